import { ServiceError, TooManyRequestsError, toServiceError, UnavailableError, UnreachableError } from './errors.ts'

export interface ClientOptions {
  /** Where the service listens, such as `http://127.0.0.1:8787`. */
  url: string
  /** An API key (`svc_key_…`) or a session. */
  key: string
  /** The id or slug of a project. Only a member of several projects needs it. */
  project?: string
  /** How long one request is tried again before its error is thrown. Default: 60,000. */
  retryForMs?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch
  /** Replaces the timer between two attempts, for tests. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface RequestOptions {
  headers?: { [name: string]: string }
  body?: string | Uint8Array<ArrayBuffer> | Blob
  signal?: AbortSignal | undefined
  /** Whether the request may be sent again when it is not known if the service has carried it out. */
  isRepeatable?: boolean
}

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000

/** Sends requests, and tries again when the service asks for it or cannot be reached. */
export class Transport {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') }
  }

  /** Resolves with a response of status 2xx; every other one is thrown as an error. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    let waitedMs = 0
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(method, path, options)
      if (outcome instanceof Response) return outcome
      const pauseMs = retryPauseMs(outcome, options.isRepeatable ?? false, attempt)
      if (pauseMs === null || waitedMs + pauseMs > (this.#options.retryForMs ?? 60_000)) throw outcome
      await this.wait(pauseMs, options.signal)
      waitedMs += pauseMs
    }
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    await (this.#options.wait ?? waitFor)(ms, signal)
  }

  async #attempt(method: string, path: string, options: RequestOptions): Promise<Response | Error> {
    const { url, key, project, fetch: send = fetch } = this.#options
    const { headers, body, signal } = options
    const credential = { authorization: `Bearer ${key}`, ...(project !== undefined && { 'x-svc-project': project }) }
    try {
      const response = await send(url + path, {
        method,
        headers: { ...credential, ...headers },
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      })
      if (response.ok) return response
      return toServiceError(response.status, await response.text(), (name) => response.headers.get(name))
    } catch (error) {
      signal?.throwIfAborted()
      return new UnreachableError(`cannot reach ${url}: ${reasonOf(error)}`, { cause: error })
    }
  }
}

/** How long to wait before the next attempt, or null if there must be none. */
function retryPauseMs(error: Error, isRepeatable: boolean, attempt: number): number | null {
  const isOutage = error instanceof UnavailableError || error instanceof UnreachableError
  // A 429 was refused before anything happened; after an outage this is not known.
  if (!(error instanceof TooManyRequestsError) && !(isOutage && isRepeatable)) return null
  if (error instanceof ServiceError && error.retryAfterS !== null) return error.retryAfterS * 1000
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS)
}

/** `fetch` hides the reason, such as ECONNREFUSED, in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
