import type { Clock } from '../src/platform/ctx/world.ts'

/** A clock that moves only when a test moves it. Timers fire in the order of their due times. */
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

  /** Whether a timer is due after exactly this time. */
  hasTimerIn(ms: number): boolean {
    return this.#timers.some(({ at }) => at === this.#now + ms)
  }

  /** How many timers have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Moves the clock from timer to timer. After each timer, the work that it starts gets one turn of the event loop. */
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

  /** Moves the clock in one step, then fires each timer that is due, once. */
  jump(ms: number): void {
    this.#now += ms
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)
      if (!next) return
      this.#timers = this.#timers.filter((other) => other !== next)
      next.call()
    }
  }

  /** Sets the clock. Timers keep their remaining time. */
  set(ms: number): void {
    for (const timer of this.#timers) timer.at += ms - this.#now
    this.#now = ms
  }
}
