import { appendAuditEntry } from '../audit/append.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import type { Config } from '../config/config.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import type { ClientWithHandles } from '../clients/rows.ts'
import { deleteClientSessions, insertPortalLink, updatePortalLinksRevoked } from './rows.ts'

const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000

export interface PortalLink {
  /** In this answer and nowhere else. */
  token: string
  expires_at: string
  url: string
}

export async function createPortalLink(ctx: Ctx, scope: ProjectScope, client: ClientWithHandles): Promise<PortalLink> {
  const token = newToken('portalLink', ctx.world.random)
  const now = ctx.world.clock.now()
  const expires_at = toIsoTime(now + LINK_LIFETIME_MS)
  await inTx(ctx, async (tx) => {
    await insertPortalLink(tx.db, {
      hash: tokenHash(token),
      project_id: client.project_id,
      client_id: client.id,
      created_at: toIsoTime(now),
      expires_at,
      used_at: null,
      revoked_at: null,
    })
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'portal.link_created', client.id, { expires_at })
  })
  return { token, expires_at, url: portalUrl(ctx.config, token) }
}

/** Ends the client's access at once: links that are on their way, sessions, and streams that those opened. */
export async function revokePortalAccess(ctx: Ctx, scope: ProjectScope, client: ClientWithHandles): Promise<void> {
  await inTx(ctx, async (tx) => {
    // Links first: whoever exchanges one now is waited for, and has a session by the time sessions are ended.
    await updatePortalLinksRevoked(tx.db, client.id, isoNow(tx))
    await deleteClientSessions(tx.db, client.id)
    tx.notify({ topic: 'portal-revoked', id: client.id })
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'portal.revoked', client.id)
  })
}

/** Behind the `#`, where browsers keep it to themselves: no server and no scanner of mails sees the token. */
function portalUrl({ publicUrl, host, port }: Config, token: string): string {
  const here = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return `${(publicUrl ?? here).replace(/\/+$/, '')}/portal#${token}`
}
