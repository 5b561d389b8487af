import { type Clock, sleep } from './world.ts'

/** Periodic work that runs until the process stops. */
export interface Loop {
  start(): void
  /** Resolves when the current round has ended. No other round follows. */
  stop(): Promise<void>
}

/** Repeats the work with a pause between the rounds. A failed round is reported and does not end the loop. */
export function createLoop(
  clock: Clock,
  pauseMs: number,
  work: (stopping: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): Loop {
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  return {
    start() {
      running ??= runRounds()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
  async function runRounds() {
    while (!stopping.signal.aborted) {
      await work(stopping.signal).catch(onError)
      await sleep(clock, pauseMs, stopping.signal)
    }
  }
}
