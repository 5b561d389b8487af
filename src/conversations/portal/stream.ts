import { bearerToken } from '../../identity/authentication/authenticate.ts'
import { tokenHash } from '../../platform/base/tokens.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { revocableStream } from '../../platform/http/revocable-stream.ts'
import type { RequestHead, StreamResponse } from '../../platform/http/route.ts'
import { findClientSession } from './rows.ts'

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
    { topics: [{ topic: 'portal-revoked', id: clientId }], isValid: () => isValidClientSession(ctx, hash) },
    response,
  )
}

async function isValidClientSession(ctx: Ctx, hash: string): Promise<boolean> {
  return (await findClientSession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
