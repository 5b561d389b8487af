import { ServiceError, TooManyRequestsError, UnavailableError, UnreachableError } from './errors.ts'
import { parseJson, toServiceError } from './response-error.ts'

export interface ClientOptions {
  /** Where the service listens, such as `http://127.0.0.1:8787`. */
  url: string
  /** An API key (`svc_key_…`) or a session. May be typed as undefined, such as a variable of the environment, but must exist. */
  key: string | undefined
  /** The id or slug of a project. Only a member of several projects needs it. */
  project?: string | undefined
  /** The most time that one request spends in pauses before further attempts, in milliseconds. Default: 60,000. */
  retryForMs?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** Replaces the timer between two attempts, for tests. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
}

export interface RequestOptions {
  headers?: { [name: string]: string }
  body?: NonNullable<RequestInit['body']>
  signal?: AbortSignal | undefined
  /** Whether the request may be sent again when it is not known if the service has carried it out. */
  isRepeatable?: boolean
}

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000

/** Sends requests, and tries again when the service asks for it or cannot be reached. */
export class Transport {
  readonly #options: ClientOptions
  readonly #url: string
  readonly #credential: { [name: string]: string }

  constructor(options: ClientOptions) {
    this.#options = options
    this.#url = checkUrl(options.url)
    const key = options.key?.trim()
    if (!key) throw new TypeError("option 'key' must be an API key (svc_key_…)")
    this.#credential = {
      authorization: `Bearer ${key}`,
      ...(options.project !== undefined && { 'x-svc-project': options.project }),
    }
  }

  /** Resolves with a response of status 2xx whose body is not read yet; every other one is thrown as an error. */
  async open(method: string, path: string, options: RequestOptions): Promise<Response> {
    return this.#retry(method, path, options, (response) => response)
  }

  /** Resolves with the JSON value of a response of status 2xx, or undefined if it is empty. */
  async sendJson(method: string, path: string, options: RequestOptions): Promise<unknown> {
    // The body is read inside of the attempt, because the connection may be lost in its middle.
    const [response, text] = await this.#retry(method, path, options, async (response) => {
      return [response, await response.text()] as const
    })
    if (text === '') return undefined
    const value = parseJson(text)
    if (value !== undefined) return value
    throw this.#foreignResponse('JSON', response.status, text)
  }

  /** Resolves with an event stream that is not read yet, or null if there are no events (204). */
  async openEvents(path: string, options: RequestOptions): Promise<ReadableStream<Uint8Array> | null> {
    const [response, page] = await this.#retry('GET', path, options, async (response) => {
      const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
      return [response, isStream || response.status === 204 ? null : await response.text()] as const
    })
    if (page !== null) throw this.#foreignResponse('an event stream', response.status, page)
    return response.status === 204 ? null : response.body
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    await (this.#options.wait ?? waitFor)(ms, signal)
  }

  /** The error of a success that the service did not send, such as the login page of a proxy. */
  #foreignResponse(expected: string, status: number, body: string): ServiceError {
    const message = `the response is not ${expected}: is ${this.#url} the address of the service?`
    return new ServiceError(message, { status, body, retryAfterS: null, requestId: null })
  }

  async #retry<Result>(
    method: string,
    path: string,
    options: RequestOptions,
    read: (response: Response) => Result | Promise<Result>,
  ): Promise<Result> {
    let waitedMs = 0
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(method, path, options, read)
      if (!('error' in outcome)) return outcome.result
      const pauseMs = retryPauseMs(outcome.error, options.isRepeatable ?? false, attempt)
      if (pauseMs === null || waitedMs + pauseMs > (this.#options.retryForMs ?? 60_000)) throw outcome.error
      await this.wait(pauseMs, options.signal)
      waitedMs += pauseMs
    }
  }

  async #attempt<Result>(
    method: string,
    path: string,
    { headers, body, signal }: RequestOptions,
    read: (response: Response) => Result | Promise<Result>,
  ): Promise<{ result: Result } | { error: Error }> {
    const { fetch: send = fetch } = this.#options
    // A wrong header is an error of the caller, and is therefore thrown before the attempt.
    const allHeaders = new Headers({ ...this.#credential, ...headers })
    try {
      const response = await send(this.#url + path, {
        method,
        headers: allHeaders,
        // A redirected POST would become a GET without its body.
        redirect: 'manual',
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      })
      if (response.ok) return { result: await read(response) }
      const text = await response.text()
      return { error: toServiceError(response.status, text, (name) => response.headers.get(name)) }
    } catch (error) {
      signal?.throwIfAborted()
      return { error: new UnreachableError(`cannot reach ${this.#url}: ${reasonOf(error)}`, { cause: error }) }
    }
  }
}

function checkUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(`option 'url' must be an address such as http://127.0.0.1:8787, not '${given}'`)
  }
  return given.trim().replace(/\/+$/, '')
}

/** How long to wait before the next attempt, or null if there must be none. */
function retryPauseMs(error: Error, isRepeatable: boolean, attempt: number): number | null {
  const isOutage = error instanceof UnavailableError || error instanceof UnreachableError
  // A 429 was refused before anything happened; after an outage this is not known.
  if (!(error instanceof TooManyRequestsError) && !(isOutage && isRepeatable)) return null
  const ownPauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS)
  // A `retry-after` of 0, or a date that has passed, must not make a loop without pauses and without an end.
  return error instanceof ServiceError ? Math.max(ownPauseMs, (error.retryAfterS ?? 0) * 1000) : ownPauseMs
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
