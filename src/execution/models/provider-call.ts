import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Clock } from '../../platform/ctx/world.ts'
import { parseRefusal } from './provider-error.ts'

export interface ProviderRequest {
  url: URL
  headers: Record<string, string>
  /** The key in the headers, for removing it from what the provider says. */
  key: string | null
  text: string
  /** How long the provider may send nothing. */
  idleTimeoutMs: number
}

/** A response whose first bytes have arrived. */
export interface ProviderResponse {
  contentType: string
  chunks: AsyncIterable<Buffer>
  /** Why reading `chunks` threw, as the end of a sentence that begins with the provider. */
  describeBreak: () => string
  /** Closes the connection. */
  abort: () => void
  /** Returns the connection to the pool once the rest of the response is read. */
  release: () => void
}

/** Why an attempt failed. `message` is the end of a sentence that begins with the provider. */
export interface ProviderFailure {
  message: string
  /** What the provider said about it, after a colon; empty if it said nothing. */
  reason: string
  status: number | null
  retryAfterMs: number | null
  isRetryable: boolean
}

/** Makes one attempt. A failure is an expected outcome, so it is returned and not thrown. */
export async function attemptProviderCall(
  clock: Clock,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderResponse | ProviderFailure> {
  const idleTimer = new IdleTimer(clock, request.idleTimeoutMs)
  const socketUse: SocketUse = { reused: false }
  try {
    const message = await sendRequest(request, idleTimer, socketUse, signal)
    if (message.statusCode !== 200) return await readRefusal(message, request.key, idleTimer, clock.now())
    return await awaitFirstBytes(message, idleTimer)
  } catch (error) {
    idleTimer.stop()
    if (idleTimer.hasExpired)
      return providerFailure(`sent nothing for ${request.idleTimeoutMs / 1000} s`, { isRetryable: false })
    // A reused connection that the provider had closed meanwhile is no sign of an outage: retry at once.
    const retryAfterMs = socketUse.reused ? 0 : null
    return providerFailure(`could not be reached (${networkErrorCode(error)})`, { isRetryable: true, retryAfterMs })
  }
}

export const isProviderFailure = (outcome: ProviderResponse | ProviderFailure): outcome is ProviderFailure =>
  'isRetryable' in outcome

interface SocketUse {
  reused: boolean
}

function sendRequest(
  request: ProviderRequest,
  idleTimer: IdleTimer,
  socketUse: SocketUse,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, headers, text } = request
  return new Promise((resolve, reject) => {
    // The global agents keep connections open for reuse.
    const outgoing = (url.protocol === 'https:' ? https : http).request(url, { method: 'POST', headers, signal })
    idleTimer.onTimeout = () => outgoing.destroy(new Error('idle timeout'))
    outgoing.on('response', resolve)
    outgoing.on('error', (error) => {
      socketUse.reused ||= outgoing.reusedSocket
      reject(error)
    })
    idleTimer.wait()
    outgoing.end(text)
  })
}

async function awaitFirstBytes(
  message: IncomingMessage,
  idleTimer: IdleTimer,
): Promise<ProviderResponse | ProviderFailure> {
  const incoming: AsyncIterator<Buffer> = message.iterator({ destroyOnReturn: false })
  const first = await incoming.next()
  if (first.done) {
    idleTimer.stop()
    return providerFailure('sent an empty response', { isRetryable: true })
  }
  const received: ByteCount = { bytes: 0 }
  const chunks = readChunks(first.value, incoming, idleTimer, received)
  const contentType = message.headers['content-type'] ?? ''
  const describeBreak = () => {
    if (received.bytes > MAX_RESPONSE_BYTES) return 'sent more than 64 MiB in one answer'
    return idleTimer.hasExpired ? 'stopped sending in the middle of its answer' : 'ended its answer early'
  }
  return {
    contentType,
    chunks,
    describeBreak,
    abort: () => message.destroy(),
    release: () => releaseConnection(message, idleTimer),
  }
}

/** The longest answers have about 130,000 tokens, each in an event of a few hundred bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

interface ByteCount {
  bytes: number
}

/** Throws when the connection breaks, the idle timeout passes or the response is too large. */
async function* readChunks(
  first: Buffer,
  incoming: AsyncIterator<Buffer>,
  idleTimer: IdleTimer,
  received: ByteCount,
): AsyncGenerator<Buffer> {
  try {
    for (let chunk = first; ; ) {
      received.bytes += chunk.length
      if (received.bytes > MAX_RESPONSE_BYTES) throw new Error('the response is too large')
      // The time that our reader takes does not count towards the idle timeout of the provider.
      idleTimer.pause()
      yield chunk
      idleTimer.wait()
      const next = await incoming.next()
      if (next.done) return
      chunk = next.value
    }
  } finally {
    idleTimer.stop()
    // The iterator's listener would keep the rest of the response from being read.
    await incoming.return?.()
  }
}

const DRAIN_TIMEOUT_MS = 1000

function releaseConnection(message: IncomingMessage, idleTimer: IdleTimer): void {
  const cancel = idleTimer.clock.after(DRAIN_TIMEOUT_MS, () => message.destroy())
  message.once('close', cancel)
  message.on('error', () => {})
  message.resume()
}

const MAX_ERROR_BODY_BYTES = 64 * 1024

async function readRefusal(
  message: IncomingMessage,
  key: string | null,
  idleTimer: IdleTimer,
  now: number,
): Promise<ProviderFailure> {
  const status = message.statusCode ?? 0
  let text = ''
  try {
    message.setEncoding('utf8')
    for await (const chunk of message) {
      text += chunk
      if (text.length > MAX_ERROR_BODY_BYTES) break
    }
  } catch {
    // The status is enough to report the failure.
  }
  idleTimer.stop()
  const { kind, reason } = parseRefusal(status, text, key)
  // An exhausted quota is reported as a rate limit, but waiting does not help.
  const isRetryable = (status === 408 || status === 429 || status >= 500) && !kind.includes('insufficient_quota')
  return providerFailure(`answered ${status}${kind}`, {
    status,
    reason,
    isRetryable,
    retryAfterMs: parseRetryAfter(message.headers, now),
  })
}

/** Reads `retry-after` (seconds or a date) or `retry-after-ms`, which OpenAI sends. */
function parseRetryAfter(headers: http.IncomingHttpHeaders, now: number): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(ms)) return Math.max(0, ms)
  const header = headers['retry-after']
  if (header === undefined) return null
  const seconds = Number(header)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}

function providerFailure(message: string, more: Partial<ProviderFailure> & { isRetryable: boolean }): ProviderFailure {
  return { message, reason: '', status: null, retryAfterMs: null, ...more }
}

function networkErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'connection failed'
}

/** Detects that the provider has sent nothing for too long while the proxy waited for it. */
class IdleTimer {
  onTimeout: () => void = () => {}
  /** The timeout has passed. */
  hasExpired = false
  #waitingSince: number | null = null
  #cancel: (() => void) | null = null
  readonly clock: Clock
  readonly #ms: number

  constructor(clock: Clock, ms: number) {
    this.clock = clock
    this.#ms = ms
  }

  wait(): void {
    this.#waitingSince = this.clock.now()
    // One timer for many chunks: it compares the times when it fires, not at every chunk.
    this.#cancel ??= this.clock.after(this.#ms, () => this.#check())
  }

  pause(): void {
    this.#waitingSince = null
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#waitingSince = null
  }

  #check(): void {
    this.#cancel = null
    if (this.#waitingSince === null) return
    const left = this.#waitingSince + this.#ms - this.clock.now()
    if (left <= 0) {
      this.hasExpired = true
      return this.onTimeout()
    }
    this.#cancel = this.clock.after(left, () => this.#check())
  }
}
