import { appendAuditEntry } from '../audit/append.ts'
import { newToken, tokenHash } from '../base/tokens.ts'
import { projectAddress } from '../brand/public-brand.ts'
import { portalUrl } from '../brand/view.ts'
import type { ClientWithHandles } from '../clients/rows.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor, ProjectScope } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import type { PortalLinkRow } from '../store/tables.ts'
import { deleteClientSessions, insertPortalLink, updatePortalLinksRevoked } from './rows.ts'

const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000

export interface PortalLink {
  /** Returned once and stored only as a hash. */
  token: string
  expires_at: string
  url: string
}

export async function createPortalLink(ctx: Ctx, actor: Actor, client: ClientWithHandles): Promise<PortalLink> {
  const { link, row } = newPortalLink(ctx, client, await projectAddress(ctx.db, client.project_id))
  await inTx(ctx, (tx) => insertNewLink(tx, actor, row))
  return link
}

/** A link that is not stored yet. `address` is the name of the project in public addresses. */
export function newPortalLink(ctx: Ctx, client: ClientWithHandles, address: string) {
  const token = newToken('portalLink', ctx.world.random)
  const now = ctx.world.clock.now()
  const expires_at = toIsoTime(now + LINK_LIFETIME_MS)
  const row: PortalLinkRow = {
    hash: tokenHash(token),
    project_id: client.project_id,
    client_id: client.id,
    created_at: toIsoTime(now),
    expires_at,
    used_at: null,
    revoked_at: null,
  }
  const link: PortalLink = { token, expires_at, url: portalUrl(ctx.config, address, token) }
  return { link, row }
}

export async function insertNewLink(tx: Tx, actor: Actor, row: PortalLinkRow, data: { by?: string } = {}) {
  await insertPortalLink(tx.db, row)
  const { project_id, client_id, expires_at } = row
  await appendAuditEntry(tx, project_id, actor, 'portal.link_created', client_id, { expires_at, ...data })
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
