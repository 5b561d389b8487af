import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../base/loopback.ts'
import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { bearerOf } from './authenticate.ts'
import { keyByHash } from './credential-rows.ts'
import { findOrganisation } from './organisation-rows.ts'

/**
 * Who may become the owner of what the first start made and its key has filled since: whoever holds that key, or sits
 * at this machine. Elsewhere the first to come would be whoever finds the address first.
 */
export async function mayAdopt(ctx: Ctx, request: FastifyRequest): Promise<boolean> {
  return isFromHere(ctx, request) || (await isFounderKey(ctx, bearerOf(request)))
}

/** What a proxy on this machine adds to a request that came to it from elsewhere. */
const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/**
 * By the socket, not by what a trusted proxy says. The name by which we were called tells of proxies that add nothing,
 * and of pages elsewhere that have their own name lead here.
 */
function isFromHere({ config }: Ctx, { socket, headers }: FastifyRequest): boolean {
  if (!isLoopback(socket.remoteAddress ?? '') || PASSED_ON.some((name) => headers[name] !== undefined)) return false
  const names = [`http://${headers.host ?? ''}`, ...(config.publicUrl === null ? [] : [config.publicUrl])]
  return names.every((url) => isLoopback(hostOf(url)))
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '')

/** While nobody owns it the organisation has one project, and such a key can do all that there is to do in it. */
async function isFounderKey({ db }: Ctx, token: string): Promise<boolean> {
  const [key] = await keyByHash(db, { hash: tokenHash(token) })
  return key?.role === 'admin' && (await findOrganisation(db, key.org_id)).founding === 1
}
