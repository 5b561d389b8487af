import type { Clock } from '../ctx/world.ts'

/** A deadline that stands still while the run waits for a person and does nothing else that costs. */
export class WorkingTime {
  #leftMs = Number.POSITIVE_INFINITY
  #since = 0
  #waits = 0
  #works = 0
  /** Told when the run begins to wait: its place is free for another. */
  onWait = () => {}
  #cancel = () => {}
  #passed = () => {}
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when so much working time has passed. */
  whenElapsed(ms: number): Promise<void> {
    this.#leftMs = ms
    return new Promise((resolve) => {
      this.#passed = resolve
      this.#run()
    })
  }

  get isWaiting(): boolean {
    return this.#waits > 0 && this.#works === 0
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#count(1, 0)
    try {
      return await wait()
    } finally {
      this.#count(-1, 0)
    }
  }

  /** What an agent has done for it while another request of it waits is work all the same. */
  async whileWorking<T>(work: () => Promise<T>): Promise<T> {
    this.#count(0, 1)
    try {
      return await work()
    } finally {
      this.#count(0, -1)
    }
  }

  stop(): void {
    this.#cancel()
    this.#leftMs = Number.POSITIVE_INFINITY
  }

  #count(waits: number, works: number): void {
    const wasWaiting = this.isWaiting
    this.#waits += waits
    this.#works += works
    if (this.isWaiting === wasWaiting) return
    if (wasWaiting) return this.#run()
    this.#halt()
    this.onWait()
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
