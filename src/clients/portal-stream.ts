import type { Ctx } from '../ctx/ctx.ts'
import type { ClientScope } from '../ctx/scope.ts'
import { StreamAnswer } from '../http/route.ts'

/** Rung when a client's access is revoked. */
export const revokedBell = (clientId: string): string => `portal:${clientId}`

/** A stream that ends with the session that opened it: after a revocation the client hears nothing more. */
export function untilRevoked(ctx: Ctx, { clientId }: ClientScope, answer: StreamAnswer): StreamAnswer {
  return new StreamAnswer(answer.headers, async (out) => {
    const stopListening = ctx.bells.on(revokedBell(clientId), () => out.end())
    try {
      await answer.write(out)
    } finally {
      stopListening()
    }
  })
}
