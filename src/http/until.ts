import type { Ctx } from '../ctx/ctx.ts'
import { StreamAnswer } from './route.ts'

/** Rung on each replica again and again: whoever looks on asks whether they still may. */
export const LOOK_AGAIN = 'streams'

/** What allows somebody to look on: the bells that tell of its end, and whether it still holds. */
export interface Right {
  bells: readonly string[]
  holds: () => Promise<boolean>
}

/**
 * Calls `end` when the right is revoked, on whichever replica, until the returned function is called. What no bell told
 * of, such as a session that runs out, is found when it looks again.
 */
export function whenOver(ctx: Ctx, { bells, holds }: Right, end: () => void): () => void {
  const lookAgain = () => {
    // While the store is away nobody can say that it does not hold.
    holds().then(
      (still) => still || end(),
      () => {},
    )
  }
  const unhear = [ctx.bells.on(LOOK_AGAIN, lookAgain), ...bells.map((bell) => ctx.bells.on(bell, end))]
  return () => {
    for (const stop of unhear) stop()
  }
}

/**
 * A stream that ends with the right to it. It listens before it looks whether that still holds, so a revocation between
 * the request's own look and this one ends it too.
 */
export function untilOver(ctx: Ctx, right: Right, answer: StreamAnswer): StreamAnswer {
  return new StreamAnswer(answer.headers, async (out) => {
    const end = () => void out[answer.cut]()
    const stop = whenOver(ctx, right, end)
    try {
      if (await right.holds()) await answer.write(out)
      else end()
    } finally {
      stop()
    }
  })
}
