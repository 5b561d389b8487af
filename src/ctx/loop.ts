import { type Clock, sleep } from './world.ts'

/** Work that goes on for as long as the process lives. */
export interface Loop {
  start(): void
  /** Resolves when the round under way is done and none will follow. */
  stop(): Promise<void>
}

/** Does the work again and again with a pause between. A round that fails is told and does not end the loop. */
export function createLoop(
  clock: Clock,
  ms: number,
  work: (stopping: AbortSignal) => Promise<unknown>,
  failed: (error: unknown) => void,
): Loop {
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  return {
    start() {
      running ??= rounds()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
  async function rounds() {
    while (!stopping.signal.aborted) {
      await work(stopping.signal).catch(failed)
      await sleep(clock, ms, stopping.signal)
    }
  }
}
