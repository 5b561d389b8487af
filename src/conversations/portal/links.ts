import { lockClient } from '../../identity/organisations/project-client-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { tooManyRequests } from '../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { projectAddress } from '../../customers/brand/public-brand.ts'
import { portalUrl } from '../../customers/brand/view.ts'
import type { ClientWithHandles } from '../../customers/clients/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { Actor, ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { PortalLinkRow } from '../../platform/store/tables.ts'
import { countOpenLinks, deleteClientSessions, insertPortalLink, updatePortalLinksRevoked } from './rows.ts'

const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000
/** The client has both devices at hand. */
const DEVICE_LINK_LIFETIME_MS = 15 * 60_000
const MAX_OPEN_DEVICE_LINKS = 5

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

/** A link that the client itself asks for. A stolen session cannot keep access with a stock of links. */
export async function createDeviceLink(ctx: Ctx, actor: Actor, client: ClientWithHandles): Promise<PortalLink> {
  const address = await projectAddress(ctx.db, client.project_id)
  const { link, row } = newPortalLink(ctx, client, address, { lifetimeMs: DEVICE_LINK_LIFETIME_MS })
  await inTx(ctx, async (tx) => {
    await lockClient(tx.db, client.id)
    const open = await countOpenLinks(tx.db, { client_id: client.id, now: isoNow(tx), until: row.expires_at })
    if (open >= MAX_OPEN_DEVICE_LINKS) throw tooManyDeviceLinks()
    await insertNewLink(tx, actor, row)
  })
  return link
}

const tooManyDeviceLinks = () =>
  tooManyRequests(
    `there are ${MAX_OPEN_DEVICE_LINKS} open links for other devices: use one of them or try again later`,
    DEVICE_LINK_LIFETIME_MS / 1000,
  )

/** A link that is not stored yet. `address` is the name of the project in public addresses. */
export function newPortalLink(
  ctx: Ctx,
  client: ClientWithHandles,
  address: string,
  { lifetimeMs = LINK_LIFETIME_MS, thread }: { lifetimeMs?: number; thread?: string | undefined } = {},
) {
  const token = newToken('portalLink', ctx.world.random)
  const now = ctx.world.clock.now()
  const expires_at = toIsoTime(now + lifetimeMs)
  const row: PortalLinkRow = {
    hash: tokenHash(token),
    project_id: client.project_id,
    client_id: client.id,
    created_at: toIsoTime(now),
    expires_at,
    used_at: null,
    revoked_at: null,
  }
  const link: PortalLink = { token, expires_at, url: portalUrl(ctx.config, address, { thread, token }) }
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
    await endAllAccess(tx, client.id)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'portal.revoked', client.id)
  })
}

/** Ends unused links and all sessions. Their streams end with the change hint `portal-revoked`. */
export async function endAllAccess(tx: Tx, clientId: string): Promise<void> {
  // Links come first: the update waits for a concurrent exchange, whose session is then deleted with the others.
  await updatePortalLinksRevoked(tx.db, clientId, isoNow(tx))
  await deleteClientSessions(tx.db, clientId)
  tx.publishAfterCommit({ topic: 'portal-revoked', id: clientId })
}
