import { badRequest, forbidden, notFound, unauthorized } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { isRoleAtLeast, type ProjectScope, type Role, type Scope } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import type { RequestHead } from '../../platform/http/route.ts'
import { updateApiKeyLastUsed } from './credential-rows.ts'
import { type Credential, findCredential, parseFounderToken } from './find-credential.ts'
import { findOrganisation } from '../organisations/organisation-rows.ts'
import { listProjectSlugs } from '../organisations/project-rows.ts'
import { parseRole } from '../organisations/member-rows.ts'
import { extendSessionIfDue } from './sessions.ts'

/** The scope of a founder request; 403 if the caller's role is too low. */
export async function authenticateWithRole(ctx: Ctx, request: HttpRequest, role: Role): Promise<Scope> {
  const scope = await authenticateRequest(ctx, request)
  if (!isRoleAtLeast(scope.role, role)) throw roleForbidden(scope)
  return scope
}

/** Accepts an API key or a member's session; every other credential gets the same 401. */
export async function authenticateRequest(ctx: Ctx, request: HttpRequest): Promise<Scope> {
  const credential = await findCredential(ctx, parseFounderToken(bearerToken(request)))
  if (!credential) throw unauthorized()
  const wanted = request.headers['x-svc-project']
  return credential.kind === 'key' ? keyScope(ctx, credential, wanted) : memberScope(ctx, credential, wanted)
}

export function bearerToken(request: RequestHead): string {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
}

export const roleForbidden = ({ role }: Pick<Scope, 'role'>) => forbidden(`role '${role}' cannot do this`)

type ProjectHeader = string | string[] | undefined

/** A key can access only its own project. */
function keyScope(ctx: Ctx, { key }: Extract<Credential, { kind: 'key' }>, wanted: ProjectHeader): Scope {
  if (wanted !== undefined && wanted !== key.project_id && wanted !== key.slug) throw notFound('project')
  recordKeyUse(ctx, key.id, key.last_used_at)
  return {
    actor: { kind: 'key', id: key.id },
    role: parseRole(key.role),
    orgId: key.org_id,
    projectIds: [key.project_id],
    allowance: { wedges: key.wedges, tier: key.tier },
  }
}

/** A member can access all projects of the organisation, or the one in the x-svc-project header. */
async function memberScope(
  ctx: Ctx,
  { member, hash }: Extract<Credential, { kind: 'session' }>,
  projectHeader: ProjectHeader,
): Promise<Scope> {
  const projects = await listProjectSlugs(ctx.db, { org_id: member.org_id })
  const inScope = projects.filter(
    ({ id, slug }) => projectHeader === undefined || projectHeader === id || projectHeader === slug,
  )
  if (inScope.length === 0) throw notFound('project')
  extendSessionIfDue(ctx, hash, member.expires_at)
  return {
    actor: { kind: 'member', id: member.id },
    role: parseRole(member.role),
    orgId: member.org_id,
    projectIds: inScope.map(({ id }) => id),
  }
}

/** Narrows a scope to its only project, or fails with a 400. */
export function requireOneProject(scope: Scope): ProjectScope {
  const [projectId, another] = scope.projectIds
  if (projectId === undefined || another !== undefined) throw badRequest("header 'x-svc-project' is required")
  const { actor, role, orgId, projectIds, allowance } = scope
  return { actor, role, orgId, projectIds, allowance, projectId }
}

const LAST_USED_INTERVAL_MS = 60_000

/** Runs in the background: the request does not wait, and a failed write only delays `last_used_at`. */
function recordKeyUse(ctx: Ctx, keyId: string, lastUsedAt: string | null): void {
  const now = ctx.world.clock.now()
  const dueBefore = now - LAST_USED_INTERVAL_MS
  if (lastUsedAt !== null && Date.parse(lastUsedAt) > dueBefore) return
  inTx(ctx, (tx) => updateApiKeyLastUsed(tx.db, keyId, toIsoTime(now), toIsoTime(dueBefore))).catch((error) =>
    ctx.world.log.warn({ err: error, key: keyId }, 'last use of an API key was not recorded'),
  )
}

/**
 * Whether this request may sign up as the owner of the first organisation: it has an admin key of it. Where the request
 * comes from does not count, because a proxy can hide that.
 */
export async function canClaimOwnership(ctx: Ctx, request: RequestHead): Promise<boolean> {
  const credential = await findCredential(ctx, parseFounderToken(bearerToken(request)))
  if (credential?.kind !== 'key' || credential.key.role !== 'admin') return false
  return (await findOrganisation(ctx.db, credential.key.org_id)).founding === 1
}
