import { bearerOf } from '../accounts/authenticate.ts'
import { tokenHash } from '../base/tokens.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { Heading, StreamAnswer } from '../http/route.ts'
import { untilOver } from '../http/until.ts'
import { clientSession } from './portal-rows.ts'

/** Rung when a client's access is revoked. */
export const revokedBell = (clientId: string): string => `portal:${clientId}`

/** A stream that ends with the session that opened it: after a revocation the client hears nothing more. */
export function untilPortalRevoked(
  ctx: Ctx,
  { clientId }: ClientScope,
  request: Heading,
  answer: StreamAnswer,
): StreamAnswer {
  const hash = tokenHash(bearerOf(request))
  return untilOver(ctx, { bells: [revokedBell(clientId)], holds: () => isSession(ctx, hash) }, answer)
}

async function isSession(ctx: Ctx, hash: string): Promise<boolean> {
  return (await clientSession(ctx.db, { hash, now: isoNow(ctx) })).length > 0
}
