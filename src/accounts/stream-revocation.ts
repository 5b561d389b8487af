import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { RequestHead, StreamResponse } from '../http/route.ts'
import { type AccessRight, revocableStream } from '../http/revocable-stream.ts'
import { bearerToken } from './authenticate.ts'
import { findApiKeyByHash, findMemberBySession } from './credential-rows.ts'

/** A founder's stream, for as long as whoever opened it may look. */
export function endStreamOnRevocation(
  ctx: Ctx,
  scope: Scope,
  request: RequestHead,
  answer: StreamResponse,
): StreamResponse {
  return revocableStream(ctx, streamAccess(ctx, scope, request), answer)
}

/**
 * That of the key that asked, or of the session and its member. Every role may look, so a new role ends none. Only the
 * hash is kept: the request would stay in memory for as long as the stream does.
 */
export function streamAccess(ctx: Ctx, { actor }: Scope, request: RequestHead): AccessRight {
  const hash = tokenHash(bearerToken(request))
  if (actor.kind === 'key') {
    return { topics: [{ topic: 'key-revoked', id: actor.id }], isValid: () => isKeyValid(ctx, hash) }
  }
  return {
    topics: [
      { topic: 'member-removed', id: actor.id },
      { topic: 'session-ended', id: hash },
    ],
    isValid: () => isSessionValid(ctx, hash),
  }
}

async function isKeyValid({ db }: Ctx, hash: string): Promise<boolean> {
  return (await findApiKeyByHash(db, { hash })).length > 0
}

async function isSessionValid(ctx: Ctx, hash: string): Promise<boolean> {
  return (await findMemberBySession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
