import type { Clock } from '../ctx/world.ts'

/** A deadline that stands still while the run waits for a person. */
export class WorkingTime {
  #leftMs = Number.POSITIVE_INFINITY
  #since = 0
  #waits = 0
  /** Told when the run begins to wait: its place is free for another. */
  onWait = () => {}
  #cancel = () => {}
  #passed = () => {}
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when so much working time has passed. */
  passed(ms: number): Promise<void> {
    this.#leftMs = ms
    return new Promise((resolve) => {
      this.#passed = resolve
      this.#run()
    })
  }

  get isWaiting(): boolean {
    return this.#waits > 0
  }

  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) {
      this.#halt()
      this.onWait()
    }
    try {
      return await wait()
    } finally {
      if (--this.#waits === 0) this.#run()
    }
  }

  stop(): void {
    this.#cancel()
    this.#leftMs = Number.POSITIVE_INFINITY
  }

  #run(): void {
    if (this.#leftMs === Number.POSITIVE_INFINITY) return
    this.#since = this.#clock.now()
    this.#cancel = this.#clock.after(this.#leftMs, this.#passed)
  }

  #halt(): void {
    this.#cancel()
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.now() - this.#since))
  }
}
