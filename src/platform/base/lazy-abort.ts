import { setMaxListeners } from 'node:events'

/** An abort controller that creates its signal on first use, because most runs end without a listener. */
export class LazyAbort {
  #controller: AbortController | null = null
  #reason: string | null = null
  #resolve: () => void = () => {}
  /** Resolves on abort, without creating a signal. */
  readonly whenAborted = new Promise<void>((resolve) => {
    this.#resolve = resolve
  })

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      // Any number of waiting calls may listen.
      setMaxListeners(0, this.#controller.signal)
      if (this.#reason !== null) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  get isAborted(): boolean {
    return this.#reason !== null
  }

  /** The reason is a string, because an abort without one creates an error with a stack. */
  abort(reason: string): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
    this.#resolve()
  }
}
