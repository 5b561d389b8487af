import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { badRequest, forbidden, notFound, unauthorized } from '../base/problem.ts'
import { TOKEN_PREFIX, tokenHash } from '../base/tokens.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { type ProjectScope, roleAtLeast, type Scope } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import type { Heading, Route } from '../http/route.ts'
import { keyByHash, memberBySession, setKeyUsed } from './credential-rows.ts'
import { projectsOfOrganisation } from './project-rows.ts'
import { roleOf } from './stored-role.ts'
import { slideSession } from './sessions.ts'

/** Who asks on the founder plane and what the route may reach; for a write of a project, exactly that project. */
export async function scopeFor(
  ctx: Ctx,
  request: FastifyRequest,
  route: Pick<Route<Scope>, 'method' | 'role' | 'level'>,
): Promise<Scope> {
  const scope = await authenticate(ctx, request)
  if (!roleAtLeast(scope.role, route.role)) throw roleCannot(scope)
  return route.method === 'GET' || route.level === 'organisation' ? scope : oneProject(scope)
}

/** Only the two founder tokens are known here; every other credential is refused with the same words. */
export async function authenticate(ctx: Ctx, request: FastifyRequest): Promise<Scope> {
  const token = bearerOf(request)
  const wanted = request.headers['x-svc-project']
  if (token.startsWith(TOKEN_PREFIX.founderKey)) return keyScope(ctx, token, wanted)
  if (token.startsWith(TOKEN_PREFIX.founderSession)) return memberScope(ctx, token, wanted)
  throw unauthorized()
}

export function bearerOf(request: Heading): string {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
}

/** Where the request comes from. What a proxy passes on may be anything; then the proxy's own address counts. */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return isIP(ip) ? ip : (socket.remoteAddress ?? '')
}

export const roleCannot = ({ role }: Pick<Scope, 'role'>) => forbidden(`role '${role}' cannot do this`)

type Wanted = string | string[] | undefined

/** A key sees exactly its project. */
async function keyScope(ctx: Ctx, token: string, wanted: Wanted): Promise<Scope> {
  const [key] = await keyByHash(ctx.db, { hash: tokenHash(token) })
  if (!key) throw unauthorized()
  if (wanted !== undefined && wanted !== key.project_id && wanted !== key.slug) throw notFound('project')
  noteUse(ctx, key.id, key.last_used_at)
  return {
    actor: { kind: 'key', id: key.id },
    role: roleOf(key.role),
    orgId: key.org_id,
    projectIds: [key.project_id],
    allowance: { wedges: key.wedges, tier: key.tier },
  }
}

/** A member sees the whole organisation; the header narrows that to one project. */
async function memberScope(ctx: Ctx, token: string, wanted: Wanted): Promise<Scope> {
  const hash = tokenHash(token)
  const [member] = await memberBySession(ctx.db, { hash, now: isoNow(ctx) })
  if (!member) throw unauthorized()
  const projects = await projectsOfOrganisation(ctx.db, { org_id: member.org_id })
  const seen = projects.filter(({ id, slug }) => wanted === undefined || wanted === id || wanted === slug)
  if (seen.length === 0) throw notFound('project')
  slideSession(ctx, hash, member.expires_at)
  return {
    actor: { kind: 'member', id: member.id },
    role: roleOf(member.role),
    orgId: member.org_id,
    projectIds: seen.map(({ id }) => id),
  }
}

/** Where a write happens, or what a read is about that only one project can answer. */
export function oneProject(scope: Scope): ProjectScope {
  const [projectId, another] = scope.projectIds
  if (projectId === undefined || another !== undefined) throw badRequest("header 'x-svc-project' is required")
  const { actor, role, orgId, projectIds, allowance } = scope
  return { actor, role, orgId, projectIds, allowance, projectId }
}

const USE_NOTED_EVERY_MS = 60_000

/** Beside the request: nobody waits for it, and a lost note costs a minute of `last_used_at`. */
function noteUse(ctx: Ctx, keyId: string, lastUsedAt: string | null): void {
  const now = ctx.world.clock.now()
  const longAgo = now - USE_NOTED_EVERY_MS
  if (lastUsedAt !== null && Date.parse(lastUsedAt) > longAgo) return
  inTx(ctx, (tx) => setKeyUsed(tx.db, keyId, isoTime(now), isoTime(longAgo))).catch((error) =>
    ctx.world.log.warn({ err: error, key: keyId }, 'use of a key not noted'),
  )
}
