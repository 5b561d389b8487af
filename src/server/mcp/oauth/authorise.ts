import { appendAuditEntry } from '../../../audit/append.ts'
import { roleForbidden } from '../../../identity/authentication/authenticate.ts'
import { badRequest, notFound } from '../../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../../platform/base/tokens.ts'
import { serviceUrl } from '../../../platform/config/service-url.ts'
import { type Ctx, inTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { type Actor, isRoleAtLeast, type Role, type Scope } from '../../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../../platform/ctx/world.ts'
import type { McpAppRow } from '../../../platform/store/tables.ts'
import { isRegisteredRedirectUri } from './apps.ts'
import {
  deleteMcpAuthorisation,
  findMcpApp,
  insertMcpAuthorisation,
  insertMcpCode,
  type McpAuthorisation,
  updateMcpAppUse,
} from './rows.ts'

const CODE_LIFETIME_MS = 5 * 60_000

/** The parameters of RFC 6749, RFC 7636 and RFC 8707 with which an app sends a member to the consent page. */
export interface AccessRequest {
  client_id: string
  redirect_uri: string
  response_type?: string | undefined
  code_challenge?: string | undefined
  code_challenge_method?: string | undefined
  resource?: string | undefined
  state?: string | undefined
}

/** The address of the MCP endpoint, which is the only resource that tokens are for. */
export const mcpResource = (ctx: Pick<Ctx, 'config'>): string => serviceUrl(ctx.config, '/mcp')
export const mcpIssuer = (ctx: Pick<Ctx, 'config'>): string => serviceUrl(ctx.config, '')

interface CheckedRequest {
  app: McpAppRow
  /** An error that the app gets by a redirect. */
  error: { code: string; description: string } | null
}

/** An unknown app or redirect URI is a 400: such a request must not lead the browser anywhere. */
export async function checkAccessRequest(ctx: Ctx, request: AccessRequest): Promise<CheckedRequest> {
  const app = await findMcpApp(ctx.db, request.client_id)
  if (!app)
    throw badRequest("field 'client_id' is not a registered app: remove the server in your app and add it again")
  if (!isRegisteredRedirectUri(app, request.redirect_uri))
    throw badRequest("field 'redirect_uri' is not one that the app has registered")
  return { app, error: findRequestError(ctx, request) }
}

function findRequestError(ctx: Ctx, request: AccessRequest): CheckedRequest['error'] {
  if (request.response_type !== 'code')
    return { code: 'unsupported_response_type', description: 'response_type must be code' }
  if (request.code_challenge_method !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(request.code_challenge ?? ''))
    return { code: 'invalid_request', description: 'code_challenge with code_challenge_method S256 is required' }
  if (!isMcpResource(ctx, request.resource))
    return { code: 'invalid_target', description: `resource must be ${mcpResource(ctx)}` }
  return null
}

/** Absent means the only resource that there is. */
export function isMcpResource(ctx: Pick<Ctx, 'config'>, resource: string | undefined): boolean {
  return resource === undefined || resource === mcpResource(ctx)
}

/** The redirect URI with the result, and with the issuer so that the app cannot mistake one server for another. */
export function redirectTo(ctx: Ctx, request: AccessRequest, result: Record<string, string>): string {
  const url = new URL(request.redirect_uri)
  const state = request.state === undefined ? {} : { state: request.state }
  for (const [name, value] of Object.entries({ ...result, ...state, iss: mcpIssuer(ctx) }))
    url.searchParams.set(name, value)
  return url.href
}

/** Gives the app access to one project as the member, and returns the URL that brings the code to the app. */
export async function authoriseMcpApp(
  ctx: Ctx,
  scope: Scope,
  request: AccessRequest,
  { projectId, role }: { projectId: string; role: Role },
): Promise<string> {
  const { app, error } = await checkAccessRequest(ctx, request)
  if (error) throw badRequest(error.description)
  if (!scope.projectIds.includes(projectId)) throw notFound('project')
  if (!isRoleAtLeast(scope.role, role)) throw roleForbidden(scope)
  const code = newToken('mcpCode', ctx.world.random)
  const now = ctx.world.clock.now()
  await inTx(ctx, async (tx) => {
    const authorisation = {
      id: tx.world.newId('mca'),
      project_id: projectId,
      member_id: scope.actor.id,
      app_id: app.id,
      app_name: app.name,
      role,
      created_at: toIsoTime(now),
      last_used_at: null,
    }
    await insertMcpAuthorisation(tx.db, authorisation)
    await insertMcpCode(tx.db, {
      hash: tokenHash(code),
      authorisation_id: authorisation.id,
      redirect_uri: request.redirect_uri,
      code_challenge: request.code_challenge ?? '',
      expires_at: toIsoTime(now + CODE_LIFETIME_MS),
      used_at: null,
    })
    await updateMcpAppUse(tx.db, app.id, isoNow(tx))
    const data = { app_id: app.id, app: app.name, role, redirect_uri: request.redirect_uri }
    await appendAuditEntry(tx, projectId, scope.actor, 'mcp_app.authorised', authorisation.id, data)
  })
  return redirectTo(ctx, request, { code })
}

/** All tokens stop working at once, and calls that wait end. Returns false when it does not exist any more. */
export async function revokeMcpAuthorisation(
  tx: Tx,
  actor: Actor,
  { id, project_id }: Pick<McpAuthorisation, 'id' | 'project_id'>,
  reason: 'revoked' | 'returned by the app' | 'code used twice' | 'refresh token used twice',
): Promise<boolean> {
  const hashes = await deleteMcpAuthorisation(tx.db, id)
  if (!hashes) return false
  for (const hash of hashes) tx.publishAfterCommit({ topic: 'session-ended', id: hash })
  await appendAuditEntry(tx, project_id, actor, 'mcp_app.revoked', id, { reason })
  return true
}
