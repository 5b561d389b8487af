import type { Clock } from '../src/ctx/world.ts'

/** Time that moves only when told. Timers fire in their order, each at its own moment. */
export class TestClock implements Clock {
  #now: number
  #timers: { at: number; call: () => void }[] = []

  constructor(start = Date.parse('2026-03-02T09:00:00.000Z')) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Whether something is to come in exactly that while. */
  hasTimerIn(ms: number): boolean {
    return this.#timers.some(({ at }) => at === this.#now + ms)
  }

  /** How many timers nobody has cancelled. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Moves on, giving the work that each timer starts a moment to get under way. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#now = Math.max(this.#now, next.at)
      next.call()
      await new Promise(setImmediate)
    }
    this.#now = until
  }

  /** Moves on in one leap: whatever came due on the way is due now, each timer once. */
  jump(ms: number): void {
    this.#now += ms
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)
      if (!next) return
      this.#timers = this.#timers.filter((other) => other !== next)
      next.call()
    }
  }

  /** Somebody sets the clock: what is to come in a while still comes in that while. */
  set(ms: number): void {
    for (const timer of this.#timers) timer.at += ms - this.#now
    this.#now = ms
  }
}
