import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../base/ip-address.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { bearerToken } from './authenticate.ts'
import { findCredential, parseFounderToken } from './find-credential.ts'
import { findOrganisation } from './organisation-rows.ts'

/**
 * Whether this request may sign up as the owner of the first organisation: it has the organisation's admin key, or it
 * comes from the machine that runs the service. Otherwise the first person to find the address would own it.
 */
export async function canClaimOwnership(ctx: Ctx, request: FastifyRequest): Promise<boolean> {
  return isFromThisMachine(ctx, request) || (await isFirstOrganisationKey(ctx, bearerToken(request)))
}

/** Headers that a proxy on this machine adds to requests from elsewhere. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * Checks the socket, because forwarded headers can be forged. The Host header must be a loopback name too: this excludes
 * proxies that add no headers, and web pages that use DNS rebinding.
 */
function isFromThisMachine({ config }: Ctx, { socket, headers }: FastifyRequest): boolean {
  if (!isLoopback(socket.remoteAddress ?? '') || PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
  const names = [`http://${headers.host ?? ''}`, ...(config.publicUrl === null ? [] : [config.publicUrl])]
  return names.every((url) => isLoopback(hostInUrl(url)))
}

const hostInUrl = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '')

/** An admin key of the first organisation; before it has an owner the organisation has one project. */
async function isFirstOrganisationKey(ctx: Ctx, token: string): Promise<boolean> {
  const credential = await findCredential(ctx, parseFounderToken(token))
  if (credential?.kind !== 'key' || credential.key.role !== 'admin') return false
  return (await findOrganisation(ctx.db, credential.key.org_id)).founding === 1
}
