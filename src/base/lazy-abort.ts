import { setMaxListeners } from 'node:events'

/** An abort whose signal is made when somebody wants to hear it: most runs end and nobody ever listened. */
export class LazyAbort {
  #made: AbortController | null = null
  #reason: string | null = null
  #tell: () => void = () => {}
  /** Resolves when it is aborted, without a signal. */
  readonly whenAborted = new Promise<void>((resolve) => {
    this.#tell = resolve
  })

  get signal(): AbortSignal {
    if (!this.#made) {
      this.#made = new AbortController()
      // Every call that waits may listen.
      setMaxListeners(0, this.#made.signal)
      if (this.#reason !== null) this.#made.abort(this.#reason)
    }
    return this.#made.signal
  }

  get isAborted(): boolean {
    return this.#reason !== null
  }

  /** A word as the reason: an abort without one makes an error with a stack, for nobody. */
  abort(reason: string): void {
    this.#reason ??= reason
    this.#made?.abort(reason)
    this.#tell()
  }
}
