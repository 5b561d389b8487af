import { bearerToken } from '../../identity/authentication/authenticate.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { unauthorized } from '../../platform/base/problem.ts'
import { newToken, TOKEN_PREFIX, tokenHash } from '../../platform/base/tokens.ts'
import { type ClientWithHandles, findClient } from '../../customers/clients/rows.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { RequestHead } from '../../platform/http/route.ts'
import { endAllAccess } from './links.ts'
import { deleteClientSession, findClientSession, insertClientSession, updatePortalLinkUsed } from './rows.ts'

const DAY_MS = 24 * 60 * 60_000
const SESSION_LIFETIME_MS = 30 * DAY_MS

export interface OpenedPortalSession {
  session_token: string
  expires_at: string
  client: ClientWithHandles
}

/** Exchanges a link for a session, once. 401 if the link is unknown, used, revoked or expired. */
export function openPortalSession(ctx: Ctx, linkToken: string): Promise<OpenedPortalSession> {
  const now = ctx.world.clock.now()
  const session_token = newToken('clientSession', ctx.world.random)
  const expires_at = toIsoTime(now + SESSION_LIFETIME_MS)
  return inTx(ctx, async (tx) => {
    const [link] = await updatePortalLinkUsed(tx.db, { hash: tokenHash(linkToken), now: toIsoTime(now) })
    const client = link && (await findClient(tx.db, [link.project_id], link.client_id))
    if (!client) throw unauthorized()
    await insertClientSession(tx.db, {
      hash: tokenHash(session_token),
      project_id: client.project_id,
      client_id: client.id,
      created_at: toIsoTime(now),
      expires_at,
    })
    await appendAuditEntry(tx, client.project_id, { kind: 'client', id: client.id }, 'portal.session_opened', client.id)
    return { session_token, expires_at, client }
  })
}

/** Ends the session of the token, or all sessions and open links of the client, with their streams. */
export async function endPortalSession(
  ctx: Ctx,
  scope: ClientScope,
  token: string,
  everywhere: boolean,
): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (everywhere) await endAllAccess(tx, scope.clientId)
    else await endOneSession(tx, scope, token)
    await appendAuditEntry(tx, scope.projectId, scope.actor, 'portal.signed_out', scope.clientId, { everywhere })
  })
}

async function endOneSession(tx: Tx, { clientId }: ClientScope, token: string): Promise<void> {
  await deleteClientSession(tx.db, tokenHash(token))
  // Ends the streams of the client's other devices too; these connect again.
  tx.publishAfterCommit({ topic: 'portal-revoked', id: clientId })
}

/** The client of the session. A client that was erased meanwhile has no session any more. */
export async function requireOwnClient(ctx: Ctx, scope: ClientScope): Promise<ClientWithHandles> {
  const client = await findClient(ctx.db, [scope.projectId], scope.clientId)
  if (!client) throw unauthorized()
  return client
}

/** Authenticates a request on the client plane. Only the session of a client is accepted. */
export async function authenticateClient(ctx: Ctx, request: RequestHead): Promise<ClientScope> {
  const token = bearerToken(request)
  if (!token.startsWith(TOKEN_PREFIX.clientSession)) throw unauthorized()
  const [session] = await findClientSession(ctx.db, { hash: tokenHash(token), now: isoNow(ctx) })
  if (!session) throw unauthorized()
  const { project_id, client_id } = session
  return { actor: { kind: 'client', id: client_id }, projectId: project_id, clientId: client_id }
}
