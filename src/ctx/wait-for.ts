import { StoreUnavailable } from '../store/errors.ts'
import type { Ctx } from './ctx.ts'

/** Remembers that somebody rang until somebody has waited for it. */
class WakeUp {
  #rung = false
  #wake: (() => void) | null = null

  readonly ring = (): void => {
    this.#rung = true
    this.#wake?.()
  }

  passed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null
        this.#rung = false
        resolve()
      }
      if (this.#rung) this.#wake()
    })
  }
}

interface WaitOptions<T> {
  bell: string
  signal: AbortSignal
  /** How long to trust the bell when it is rung on another replica, from where a ring can get lost. */
  pollMs: number
  look: () => Promise<T | null>
}

/**
 * Looks, and looks again at each ring, until there is something to see; null when the signal fires first. The bell is
 * heard from before the first look, so nothing slips in between. While the store is away there is nothing to see.
 */
export async function waitFor<T>(ctx: Ctx, { bell, signal, pollMs, look }: WaitOptions<T>): Promise<T | null> {
  const latch = new WakeUp()
  const unhear = ctx.notifications.subscribe(bell, latch.ring)
  signal.addEventListener('abort', latch.ring)
  try {
    for (;;) {
      const seen = await look().catch(nullIfUnavailable)
      if (seen !== null || signal.aborted) return seen
      const cancel = ctx.store.kind === 'postgres' ? ctx.world.clock.after(pollMs, latch.ring) : null
      await latch.passed()
      cancel?.()
    }
  } finally {
    unhear()
    signal.removeEventListener('abort', latch.ring)
  }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof StoreUnavailable) return null
  throw error
}
