import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { type AccessRight, revocableStream } from '../../platform/http/revocable-stream.ts'
import type { RequestHead, StreamResponse } from '../../platform/http/route.ts'
import { bearerToken } from './authenticate.ts'
import { findCredential, parseFounderToken } from './find-credential.ts'

/** Ends a founder's stream when its credential is revoked. */
export function endStreamOnRevocation(
  ctx: Ctx,
  scope: Scope,
  request: RequestHead,
  response: StreamResponse,
): StreamResponse {
  return revocableStream(ctx, streamAccess(ctx, scope, request), response)
}

/**
 * The right of the key, or of the session and its member. Every role may read, so a change of role ends no stream. Only
 * the hash of the token is kept, because the request would stay in memory for as long as the stream is open.
 */
export function streamAccess(ctx: Ctx, { actor }: Scope, request: RequestHead): AccessRight {
  const token = parseFounderToken(bearerToken(request))
  const isValid = async () => (await findCredential(ctx, token)) !== null
  if (actor.kind === 'key') return { topics: [{ topic: 'key-revoked', id: actor.id }], isValid }
  const sessionEnded = token ? [{ topic: 'session-ended' as const, id: token.hash }] : []
  return { topics: [{ topic: 'member-removed', id: actor.id }, ...sessionEnded], isValid }
}
