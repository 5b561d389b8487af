import type { Ctx } from '../ctx/ctx.ts'
import type { Topic } from '../ctx/topics.ts'
import { StreamResponse } from './route.ts'

/** The authorization of a caller: the topics that announce its end, and the check whether it is still valid. */
export interface AccessRight {
  topics: readonly Topic[]
  isValid: () => Promise<boolean>
}

/**
 * Calls `end` when the right is revoked on any replica, until the returned function is called. An end without a
 * change hint, such as an expired session, is found by the periodic re-check.
 */
export function onRevoked(ctx: Ctx, { topics, isValid }: AccessRight, end: () => void): () => void {
  const recheck = () => {
    // While the store is unavailable, the right counts as valid.
    isValid().then(
      (valid) => valid || end(),
      () => {},
    )
  }
  const subscriptions = [
    ctx.changeHints.subscribe({ topic: 'recheck-streams' }, recheck),
    ...topics.map((topic) => ctx.changeHints.subscribe(topic, end)),
  ]
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe()
  }
}

/**
 * A stream that ends when the caller's right is revoked. It subscribes before it checks the right, so a revocation
 * after the request was authenticated ends it too.
 */
export function revocableStream(ctx: Ctx, right: AccessRight, response: StreamResponse): StreamResponse {
  return new StreamResponse(response.headers, async (out) => {
    const end = () => void out[response.earlyEnd]()
    const unsubscribe = onRevoked(ctx, right, end)
    try {
      if (await right.isValid()) await response.write(out)
      else end()
    } finally {
      unsubscribe()
    }
  })
}
