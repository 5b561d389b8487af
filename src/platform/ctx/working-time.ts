import type { Clock } from './world.ts'

/** A deadline that is paused while the run waits for an approval and does no other work. */
export class WorkingTime {
  #leftMs = Number.POSITIVE_INFINITY
  #runningSince = 0
  #waits = 0
  #works = 0
  #interrupted = 0
  #cancel = () => {}
  #onElapsed = () => {}
  readonly #clock: Clock
  readonly #onWait: () => void

  /** `onWait` is called when the run starts to wait. */
  constructor(clock: Clock, onWait: () => void = () => {}) {
    this.#clock = clock
    this.#onWait = onWait
  }

  /** Resolves when this much working time has passed. */
  whenElapsed(ms: number): Promise<void> {
    this.#leftMs = ms
    return new Promise((resolve) => {
      this.#onElapsed = resolve
      this.#run()
    })
  }

  /** The working time so far, of the time that was given. */
  elapsedMs(givenMs: number): number {
    const running = this.isWaiting ? 0 : this.#clock.now() - this.#runningSince
    return this.#leftMs === Number.POSITIVE_INFINITY ? 0 : givenMs - this.#leftMs + running
  }

  /** Also while the work is interrupted. */
  get isWorking(): boolean {
    return this.#works + this.#interrupted > 0
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

  /** Work counts even while another request of the agent waits for an approval. */
  async whileWorking<T>(work: () => Promise<T>): Promise<T> {
    this.#count(0, 1)
    try {
      return await work()
    } finally {
      this.#count(0, -1)
    }
  }

  /** Waits for a person in the middle of work, which goes on afterwards. */
  async whileInterrupted<T>(wait: () => Promise<T>): Promise<T> {
    this.#interrupted++
    this.#count(1, -1)
    try {
      return await wait()
    } finally {
      this.#count(-1, 1)
      this.#interrupted--
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
    this.#pause()
    this.#onWait()
  }

  #run(): void {
    if (this.#leftMs === Number.POSITIVE_INFINITY) return
    this.#runningSince = this.#clock.now()
    this.#cancel = this.#clock.after(this.#leftMs, this.#onElapsed)
  }

  #pause(): void {
    this.#cancel()
    this.#leftMs = Math.max(0, this.#leftMs - (this.#clock.now() - this.#runningSince))
  }
}
