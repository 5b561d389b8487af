import { audit } from '../audit/append.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import type { Config } from '../config/config.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import type { Client } from './client-rows.ts'
import { endClientSessions, insertLink, revokeLinks } from './portal-rows.ts'
import { revokedBell } from './portal-stream.ts'

const LINK_MS = 7 * 24 * 60 * 60_000

export interface PortalLink {
  /** In this answer and nowhere else. */
  token: string
  expires_at: string
  url: string
}

export async function makePortalLink(ctx: Ctx, scope: ProjectScope, client: Client): Promise<PortalLink> {
  const token = newToken('portalLink', ctx.world.random)
  const now = ctx.world.clock.now()
  const expires_at = isoTime(now + LINK_MS)
  await inTx(ctx, async (tx) => {
    await insertLink(tx.db, {
      hash: tokenHash(token),
      project_id: client.project_id,
      client_id: client.id,
      created_at: isoTime(now),
      expires_at,
      used_at: null,
      revoked_at: null,
    })
    await audit(tx, scope.projectId, scope.actor, 'portal.link_created', client.id, { expires_at })
  })
  return { token, expires_at, url: portalUrl(ctx.config, token) }
}

/** Ends the client's access at once: links that are on their way, sessions, and streams that those opened. */
export async function revokePortal(ctx: Ctx, scope: ProjectScope, client: Client): Promise<void> {
  await inTx(ctx, async (tx) => {
    // Links first: whoever exchanges one now is waited for, and has a session by the time sessions are ended.
    await revokeLinks(tx.db, client.id, isoNow(tx))
    await endClientSessions(tx.db, client.id)
    tx.ring(revokedBell(client.id))
    await audit(tx, scope.projectId, scope.actor, 'portal.revoked', client.id)
  })
}

/** Behind the `#`, where browsers keep it to themselves: no server and no scanner of mails sees the token. */
function portalUrl({ publicUrl, host, port }: Config, token: string): string {
  const here = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return `${(publicUrl ?? here).replace(/\/+$/, '')}/portal#${token}`
}
