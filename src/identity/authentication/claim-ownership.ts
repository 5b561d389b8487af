import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { RequestHead } from '../../platform/http/route.ts'
import { bearerToken } from './authenticate.ts'
import { findCredential, parseFounderToken } from './find-credential.ts'
import { findOrganisation } from '../organisations/organisation-rows.ts'

/**
 * Whether this request may sign up as the owner of the first organisation: it has an admin key of it. Where the request
 * comes from does not count, because a proxy can hide that.
 */
export async function canClaimOwnership(ctx: Ctx, request: RequestHead): Promise<boolean> {
  const credential = await findCredential(ctx, parseFounderToken(bearerToken(request)))
  if (credential?.kind !== 'key' || credential.key.role !== 'admin') return false
  return (await findOrganisation(ctx.db, credential.key.org_id)).founding === 1
}
