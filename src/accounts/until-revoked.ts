import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { Heading, StreamAnswer } from '../http/route.ts'
import { untilRung } from '../http/until.ts'
import { bearerOf } from './authenticate.ts'
import { keyByHash, memberBySession } from './credential-rows.ts'
import { keyBell, memberBell, sessionBell } from './revoked-bells.ts'

/**
 * A founder's stream, for as long as the key that opened it, or the session and its member, may look. Every role may, so
 * a new role ends none. Only the hash is kept: the request would stay in memory for as long as the stream does.
 */
export function untilRevoked(ctx: Ctx, { actor }: Scope, request: Heading, answer: StreamAnswer): StreamAnswer {
  const hash = tokenHash(bearerOf(request))
  if (actor.kind === 'key') return untilRung(ctx, [keyBell(actor.id)], () => isKey(ctx, hash), answer)
  return untilRung(ctx, [memberBell(actor.id), sessionBell(hash)], () => isSession(ctx, hash), answer)
}

async function isKey({ db }: Ctx, hash: string): Promise<boolean> {
  return (await keyByHash(db, { hash })).length > 0
}

async function isSession(ctx: Ctx, hash: string): Promise<boolean> {
  return (await memberBySession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
