import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { Heading, StreamAnswer } from '../http/route.ts'
import { type Right, untilOver } from '../http/until.ts'
import { bearerOf } from './authenticate.ts'
import { keyByHash, memberBySession } from './credential-rows.ts'
import { keyBell, memberBell, sessionBell } from './revoked-bells.ts'

/** A founder's stream, for as long as whoever opened it may look. */
export function untilRevoked(ctx: Ctx, scope: Scope, request: Heading, answer: StreamAnswer): StreamAnswer {
  return untilOver(ctx, rightOf(ctx, scope, request), answer)
}

/**
 * That of the key that asked, or of the session and its member. Every role may look, so a new role ends none. Only the
 * hash is kept: the request would stay in memory for as long as the stream does.
 */
export function rightOf(ctx: Ctx, { actor }: Scope, request: Heading): Right {
  const hash = tokenHash(bearerOf(request))
  if (actor.kind === 'key') return { bells: [keyBell(actor.id)], holds: () => isKey(ctx, hash) }
  return { bells: [memberBell(actor.id), sessionBell(hash)], holds: () => isSession(ctx, hash) }
}

async function isKey({ db }: Ctx, hash: string): Promise<boolean> {
  return (await keyByHash(db, { hash })).length > 0
}

async function isSession(ctx: Ctx, hash: string): Promise<boolean> {
  return (await memberBySession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
