import { type Clock, sleep } from './world.ts'

/** Periodic work that runs until the process stops. */
export interface Loop {
  start(): void
  /** Resolves when the current round has ended. No other round follows. */
  stop(): Promise<void>
}

/** A loop whose next round can begin before its time. */
export interface WakeableLoop extends Loop {
  /** Ends the pause. During a round, the next one begins right after it. */
  wake(): void
}

/** Repeats the work with a pause between the rounds. A failed round is reported and does not end the loop. */
export function createLoop(
  clock: Clock,
  pauseMs: number,
  work: (stopping: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): WakeableLoop {
  const stopping = new AbortController()
  let pause = new AbortController()
  let running: Promise<void> | null = null
  return {
    start() {
      running ??= runRounds()
    },
    wake: () => pause.abort(),
    async stop() {
      stopping.abort()
      pause.abort()
      await running
    },
  }
  async function runRounds() {
    while (!stopping.signal.aborted) {
      // Before the work, so that a call of `wake` during the round is not lost.
      pause = new AbortController()
      await work(stopping.signal).catch(onError)
      if (!stopping.signal.aborted) await sleep(clock, pauseMs, pause.signal)
    }
  }
}
