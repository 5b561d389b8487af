import { authenticateRequest, bearerToken } from '../../../identity/authentication/authenticate.ts'
import { parseRole } from '../../../identity/organisations/member-rows.ts'
import { streamAccess } from '../../../identity/authentication/stream-revocation.ts'
import { notFound, Problem } from '../../../platform/base/problem.ts'
import { TOKEN_PREFIX, tokenHash } from '../../../platform/base/tokens.ts'
import { serviceUrl } from '../../../platform/config/service-url.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { isRoleAtLeast, type Role, type Scope } from '../../../platform/ctx/scope.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import type { HttpRequest } from '../../../platform/http/http-request.ts'
import type { AccessRight } from '../../../platform/http/revocable-stream.ts'
import type { RequestHead } from '../../../platform/http/route.ts'
import { findMcpAccess } from './rows.ts'

/** The metadata of the resource, whose address a 401 of `/mcp` names (RFC 9728). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/mcp'

/** Accepts what every founder route accepts, and access tokens of apps. No other route accepts those. */
export async function authenticateMcpRequest(ctx: Ctx, request: HttpRequest): Promise<Scope> {
  const token = readAccessToken(request)
  if (token) return mcpScope(ctx, token, request.headers['x-svc-project'])
  return authenticateRequest(ctx, request).catch((error: unknown) => {
    throw error instanceof Problem && error.status === 401 ? challenge(ctx, error.message, bearerToken(request)) : error
  })
}

/** The right of a call that waits, or of a stream: it ends when the app's access is revoked or its member is removed. */
export function mcpAccess(ctx: Ctx, scope: Scope, request: RequestHead): AccessRight {
  const token = readAccessToken(request)
  if (!token) return streamAccess(ctx, scope, request)
  return {
    topics: [
      { topic: 'member-removed', id: scope.actor.id },
      { topic: 'session-ended', id: token.hash },
    ],
    isValid: async () => (await findMcpAccess(ctx.db, { hash: token.hash, now: isoNow(ctx) })).length > 0,
  }
}

function readAccessToken(request: RequestHead): { hash: string } | null {
  const token = bearerToken(request)
  return token.startsWith(TOKEN_PREFIX.mcpAccess) ? { hash: tokenHash(token) } : null
}

/** The member in one project, with the lower of the given role and the member's current role. */
async function mcpScope(ctx: Ctx, { hash }: { hash: string }, wanted: string | string[] | undefined): Promise<Scope> {
  const [found] = await findMcpAccess(ctx.db, { hash, now: isoNow(ctx) })
  if (!found) throw challenge(ctx, 'a valid credential is required', hash)
  if (wanted !== undefined && wanted !== found.project_id && wanted !== found.slug) throw notFound('project')
  return {
    actor: { kind: 'member', id: found.member_id },
    role: lowerRole(parseRole(found.role), parseRole(found.member_role)),
    orgId: found.org_id,
    projectIds: [found.project_id],
    allowance: { wedges: found.wedges, tier: found.tier },
  }
}

const lowerRole = (one: Role, other: Role): Role => (isRoleAtLeast(one, other) ? other : one)

/** Tells the app where to get a token; an app that sent one learns that it is not valid any more. */
function challenge(ctx: Ctx, message: string, sent: string): Problem {
  const metadata = `resource_metadata="${serviceUrl(ctx.config, RESOURCE_METADATA_PATH)}"`
  const header = sent === '' ? `Bearer ${metadata}` : `Bearer error="invalid_token", ${metadata}`
  return new Problem(401, message, { headers: { 'www-authenticate': header } })
}
