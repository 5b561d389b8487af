import type { Ctx } from '../ctx/ctx.ts'
import { StreamResponse } from './route.ts'

/** Rung on each replica again and again: whoever looks on asks whether they still may. */
export const RECHECK_STREAMS = 'streams'

/** What allows somebody to look on: the bells that tell of its end, and whether it still holds. */
export interface AccessRight {
  topics: readonly string[]
  isValid: () => Promise<boolean>
}

/**
 * Calls `end` when the right is revoked, on whichever replica, until the returned function is called. What no bell told
 * of, such as a session that runs out, is found when it looks again.
 */
export function onRevoked(ctx: Ctx, { topics: bells, isValid: holds }: AccessRight, end: () => void): () => void {
  const lookAgain = () => {
    // While the store is away nobody can say that it does not hold.
    holds().then(
      (still) => still || end(),
      () => {},
    )
  }
  const unhear = [
    ctx.notifications.subscribe(RECHECK_STREAMS, lookAgain),
    ...bells.map((bell) => ctx.notifications.subscribe(bell, end)),
  ]
  return () => {
    for (const stop of unhear) stop()
  }
}

/**
 * A stream that ends with the right to it. It listens before it looks whether that still holds, so a revocation between
 * the request's own look and this one ends it too.
 */
export function revocableStream(ctx: Ctx, right: AccessRight, answer: StreamResponse): StreamResponse {
  return new StreamResponse(answer.headers, async (out) => {
    const end = () => void out[answer.earlyEnd]()
    const stop = onRevoked(ctx, right, end)
    try {
      if (await right.isValid()) await answer.write(out)
      else end()
    } finally {
      stop()
    }
  })
}
