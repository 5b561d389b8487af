import type { Ctx } from '../ctx/ctx.ts'
import { StreamAnswer } from './route.ts'

/**
 * A stream that ends at a bell: when what allowed it is revoked, on whichever replica. It listens before it looks
 * whether that still holds, so a revocation between the request's own look and this one ends it too.
 */
export function untilRung(
  ctx: Ctx,
  topics: readonly string[],
  stillHolds: () => Promise<boolean>,
  answer: StreamAnswer,
): StreamAnswer {
  return new StreamAnswer(answer.headers, async (out) => {
    const end = () => out.end()
    const unhear = topics.map((topic) => ctx.bells.on(topic, end))
    try {
      if (await stillHolds()) await answer.write(out)
      else end()
    } finally {
      for (const stop of unhear) stop()
    }
  })
}
