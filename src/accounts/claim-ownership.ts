import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../base/loopback.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { bearerToken } from './authenticate.ts'
import { findCredential, parseFounderToken } from './find-credential.ts'
import { findOrganisation } from './organisation-rows.ts'

/**
 * Who may become the owner of what the first start made and its key has filled since: whoever holds that key, or sits
 * at this machine. Elsewhere the first to come would be whoever finds the address first.
 */
export async function canClaimOwnership(ctx: Ctx, request: FastifyRequest): Promise<boolean> {
  return isFromThisMachine(ctx, request) || (await isFirstOrganisationKey(ctx, bearerToken(request)))
}

/** What a proxy on this machine adds to a request that came to it from elsewhere. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * By the socket, not by what a trusted proxy says. The name by which we were called tells of proxies that add nothing,
 * and of pages elsewhere that have their own name lead here.
 */
function isFromThisMachine({ config }: Ctx, { socket, headers }: FastifyRequest): boolean {
  if (!isLoopback(socket.remoteAddress ?? '') || PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
  const names = [`http://${headers.host ?? ''}`, ...(config.publicUrl === null ? [] : [config.publicUrl])]
  return names.every((url) => isLoopback(hostInUrl(url)))
}

const hostInUrl = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '')

/** While nobody owns it the organisation has one project, and such a key can do all that there is to do in it. */
async function isFirstOrganisationKey(ctx: Ctx, token: string): Promise<boolean> {
  const credential = await findCredential(ctx, parseFounderToken(token))
  if (credential?.kind !== 'key' || credential.key.role !== 'admin') return false
  return (await findOrganisation(ctx.db, credential.key.org_id)).founding === 1
}
