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

/**
 * Several kinds of work whose rounds begin at a fixed interval: a heartbeat must not come later because a round took long.
 * Each work reports its own errors. A round that is due while the previous one runs begins right after it.
 */
export function createJointLoop(
  clock: Clock,
  intervalMs: number,
  works: readonly ((stopping: AbortSignal) => Promise<unknown>)[],
): Loop {
  const stopping = new AbortController()
  const running = new Map<number, Promise<void>>()
  const due = new Set<number>()
  let cancelTimer: (() => void) | null = null
  return {
    start: beginRounds,
    async stop() {
      stopping.abort()
      cancelTimer?.()
      await Promise.all(running.values())
    },
  }
  function beginRounds() {
    cancelTimer = clock.after(intervalMs, beginRounds)
    for (const n of works.keys()) {
      due.add(n)
      if (!running.has(n)) running.set(n, runWhileDue(n))
    }
  }
  async function runWhileDue(n: number) {
    while (due.delete(n) && !stopping.signal.aborted) await works[n]?.(stopping.signal)
    running.delete(n)
  }
}
