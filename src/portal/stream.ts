import { bearerToken } from '../accounts/authenticate.ts'
import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { RequestHead, StreamResponse } from '../http/route.ts'
import { revocableStream } from '../http/revocable-stream.ts'
import { findClientSession } from './rows.ts'

export const portalRevokedTopic = (clientId: string): string => `portal:${clientId}`

/** A stream that ends when the session that opened it is revoked or expires. */
export function revocablePortalStream(
  ctx: Ctx,
  { clientId }: ClientScope,
  request: RequestHead,
  response: StreamResponse,
): StreamResponse {
  const hash = tokenHash(bearerToken(request))
  return revocableStream(
    ctx,
    { topics: [portalRevokedTopic(clientId)], isValid: () => isValidClientSession(ctx, hash) },
    response,
  )
}

async function isValidClientSession(ctx: Ctx, hash: string): Promise<boolean> {
  return (await findClientSession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
