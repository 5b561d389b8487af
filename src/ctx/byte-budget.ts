/** Limits the bytes that requests without a credential keep in memory at the same time. */
export class ByteBudget {
  readonly #max: number
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Reserves the bytes and returns the function that releases them; null if they do not fit now. */
  take(bytes: number): (() => void) | null {
    if (this.#used > 0 && this.#used + bytes > this.#max) return null
    this.#used += bytes
    return () => {
      this.#used -= bytes
    }
  }
}
