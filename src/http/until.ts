import type { Ctx } from '../ctx/ctx.ts'
import { StreamAnswer } from './route.ts'

/** Rung on each replica again and again: every stream looks whether it may still be open. */
export const LOOK_AGAIN = 'streams'

/**
 * A stream that ends at a bell: when what allowed it is revoked, on whichever replica. It listens before it looks
 * whether that still holds, so a revocation between the request's own look and this one ends it too. What no bell told
 * of, such as a session that runs out, is found when it looks again.
 */
export function untilRung(
  ctx: Ctx,
  topics: readonly string[],
  stillHolds: () => Promise<boolean>,
  answer: StreamAnswer,
): StreamAnswer {
  return new StreamAnswer(answer.headers, async (out) => {
    const end = () => out.end()
    const lookAgain = () => {
      // While the store is away nobody can say that it does not hold.
      stillHolds().then(
        (holds) => holds || end(),
        () => {},
      )
    }
    const unhear = [ctx.bells.on(LOOK_AGAIN, lookAgain), ...topics.map((topic) => ctx.bells.on(topic, end))]
    try {
      if (await stillHolds()) await answer.write(out)
      else end()
    } finally {
      for (const stop of unhear) stop()
    }
  })
}
