import { StoreUnavailable } from '../store/errors.ts'
import type { Ctx } from './ctx.ts'
import type { Topic } from './topics.ts'

/** Remembers a call of `wake` until `woken` is awaited. */
class WakeUp {
  #isWoken = false
  #resolve: (() => void) | null = null

  readonly wake = (): void => {
    this.#isWoken = true
    this.#resolve?.()
  }

  woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = () => {
        this.#resolve = null
        this.#isWoken = false
        resolve()
      }
      if (this.#isWoken) this.#resolve()
    })
  }
}

interface WaitOptions<T> {
  topic: Topic
  signal: AbortSignal
  /** With PostgreSQL, checks at least this often, because a hint of another replica can get lost. */
  pollMs: number
  /** Null: there is no result yet. */
  check: () => Promise<T | null>
}

/**
 * Checks now, and again after each hint, until there is a result; null if the signal is aborted first. Subscribes
 * before the first check, so that no change is missed. An unavailable store counts as no result yet.
 */
export async function waitFor<T>(ctx: Ctx, { topic, signal, pollMs, check }: WaitOptions<T>): Promise<T | null> {
  const wakeUp = new WakeUp()
  const unsubscribe = ctx.changeHints.subscribe(topic, wakeUp.wake)
  signal.addEventListener('abort', wakeUp.wake)
  try {
    for (;;) {
      const result = await check().catch(nullIfUnavailable)
      if (result !== null || signal.aborted) return result
      const cancelPoll = ctx.store.kind === 'postgres' ? ctx.world.clock.after(pollMs, wakeUp.wake) : null
      await wakeUp.woken()
      cancelPoll?.()
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wakeUp.wake)
  }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof StoreUnavailable) return null
  throw error
}
