import { appendAuditEntry } from '../audit/append.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import type { ClientWithHandles } from '../clients/rows.ts'
import type { Config } from '../config/config.ts'
import { serviceUrl } from '../config/service-url.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { deleteClientSessions, insertPortalLink, updatePortalLinksRevoked } from './rows.ts'

const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000

export interface PortalLink {
  /** Returned once and stored only as a hash. */
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

/** Ends the client's access at once: unused links, sessions, and the streams of those sessions. */
export async function revokePortalAccess(ctx: Ctx, scope: ProjectScope, client: ClientWithHandles): Promise<void> {
  await inTx(ctx, async (tx) => {
    // Links come first: the update waits for a concurrent exchange, whose session is then deleted with the others.
    await updatePortalLinksRevoked(tx.db, client.id, isoNow(tx))
    await deleteClientSessions(tx.db, client.id)
    tx.notify({ topic: 'portal-revoked', id: client.id })
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'portal.revoked', client.id)
  })
}

/** The token is in the fragment, which browsers do not send, so it never appears in server or proxy logs. */
const portalUrl = (config: Config, token: string): string => serviceUrl(config, `/portal#${token}`)
