import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Scope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import { type AccessRight, revocableStream } from '../http/revocable-stream.ts'
import type { RequestHead, StreamResponse } from '../http/route.ts'
import { bearerToken } from './authenticate.ts'
import { findApiKeyByHash, findMemberBySession } from './credential-rows.ts'
import { keyRevokedTopic, memberRemovedTopic, sessionEndedTopic } from './revocation-topics.ts'

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
 * The right of the API key, or of the session and its member. Every role may read, so a change of role ends no stream.
 * Keeps only the hash, because the request would stay in memory as long as the stream.
 */
export function streamAccess(ctx: Ctx, { actor }: Scope, request: RequestHead): AccessRight {
  const hash = tokenHash(bearerToken(request))
  if (actor.kind === 'key') return { topics: [keyRevokedTopic(actor.id)], isValid: () => isKeyValid(ctx, hash) }
  return { topics: [memberRemovedTopic(actor.id), sessionEndedTopic(hash)], isValid: () => isSessionValid(ctx, hash) }
}

async function isKeyValid({ db }: Ctx, hash: string): Promise<boolean> {
  return (await findApiKeyByHash(db, { hash })).length > 0
}

async function isSessionValid(ctx: Ctx, hash: string): Promise<boolean> {
  return (await findMemberBySession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
