import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { tryParseJsonObject } from '../base/json-fields.ts'
import type { Clock } from '../ctx/world.ts'
import { providerErrorKind } from './read-response.ts'

export interface ProviderRequest {
  url: URL
  headers: Record<string, string>
  text: string
  /** So long may the provider say nothing. */
  idleTimeoutMs: number
}

/** An answer whose first bytes have come. */
export interface ProviderResponse {
  contentType: string
  chunks: AsyncIterable<Buffer>
  /** How it ended, when reading `chunks` has thrown: a sentence about the provider. */
  describeBreak: () => string
  /** Breaks the connection off. */
  abort: () => void
  /** Lets the connection go back to the pool, though the provider may still dawdle over the end of the answer. */
  release: () => void
}

/** Why a try failed: a sentence about the provider, and how long to wait before another is worth it. */
export interface ProviderFailure {
  message: string
  status: number | null
  retryAfterMs: number | null
  isRetryable: boolean
}

/** One try. Failing is an ordinary outcome here, so it is returned and not thrown. */
export async function attemptProviderCall(
  clock: Clock,
  outgoing: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderResponse | ProviderFailure> {
  const silence = new IdleTimer(clock, outgoing.idleTimeoutMs)
  const fate: SocketUse = { reused: false }
  try {
    const message = await sendRequest(outgoing, silence, fate, signal)
    if (message.statusCode !== 200) return await readRefusal(message, silence, clock.now())
    return await awaitFirstBytes(message, silence)
  } catch (error) {
    silence.stop()
    if (silence.broken)
      return providerFailure(`sent nothing for ${outgoing.idleTimeoutMs / 1000} s`, { isRetryable: false })
    // A kept connection that the provider had closed in the meantime says nothing about the provider.
    const retryAfterMs = fate.reused ? 0 : null
    return providerFailure(`could not be reached (${networkErrorCode(error)})`, { isRetryable: true, retryAfterMs })
  }
}

export const isProviderFailure = (outcome: ProviderResponse | ProviderFailure): outcome is ProviderFailure =>
  'isRetryable' in outcome

interface SocketUse {
  reused: boolean
}

function sendRequest(
  outgoing: ProviderRequest,
  silence: IdleTimer,
  fate: SocketUse,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { url, headers, text } = outgoing
  return new Promise((resolve, reject) => {
    // The global agents keep connections.
    const request = (url.protocol === 'https:' ? https : http).request(url, { method: 'POST', headers, signal })
    silence.onSilent = () => request.destroy(new Error('silent'))
    request.on('response', resolve)
    request.on('error', (error) => {
      fate.reused ||= request.reusedSocket
      reject(error)
    })
    silence.wait()
    request.end(text)
  })
}

async function awaitFirstBytes(
  message: IncomingMessage,
  silence: IdleTimer,
): Promise<ProviderResponse | ProviderFailure> {
  const incoming: AsyncIterator<Buffer> = message.iterator({ destroyOnReturn: false })
  const first = await incoming.next()
  if (first.done) {
    silence.stop()
    return providerFailure('sent an empty answer', { isRetryable: true })
  }
  const taken: ByteCount = { bytes: 0 }
  const chunks = readChunks(first.value, incoming, silence, taken)
  const contentType = message.headers['content-type'] ?? ''
  const end = () => {
    if (taken.bytes > MAX_RESPONSE_BYTES) return 'sent more than 64 MiB in one answer'
    return silence.broken ? 'fell silent in the middle of its answer' : 'cut its answer off'
  }
  return {
    contentType,
    chunks,
    describeBreak: end,
    abort: () => message.destroy(),
    release: () => releaseConnection(message, silence),
  }
}

/** The longest answers are some 130,000 tokens, each in a frame of a few hundred bytes. More would fill the memory. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

interface ByteCount {
  bytes: number
}

/** Throws when the connection breaks or falls silent, or when the answer is too large. */
async function* readChunks(
  first: Buffer,
  incoming: AsyncIterator<Buffer>,
  silence: IdleTimer,
  taken: ByteCount,
): AsyncGenerator<Buffer> {
  try {
    for (let chunk = first; ; ) {
      taken.bytes += chunk.length
      if (taken.bytes > MAX_RESPONSE_BYTES) throw new Error('the answer is too large')
      // A reader that is slow to take a chunk is not the provider's silence.
      silence.pause()
      yield chunk
      silence.wait()
      const next = await incoming.next()
      if (next.done) return
      chunk = next.value
    }
  } finally {
    silence.stop()
    // Its listener would keep what is left from flowing.
    await incoming.return?.()
  }
}

const DRAIN_TIMEOUT_MS = 1000

function releaseConnection(message: IncomingMessage, silence: IdleTimer): void {
  const cancel = silence.clock.after(DRAIN_TIMEOUT_MS, () => message.destroy())
  message.once('close', cancel)
  message.on('error', () => {})
  message.resume()
}

const MAX_ERROR_BODY_BYTES = 64 * 1024

async function readRefusal(message: IncomingMessage, silence: IdleTimer, now: number): Promise<ProviderFailure> {
  const status = message.statusCode ?? 0
  let text = ''
  try {
    message.setEncoding('utf8')
    for await (const chunk of message) {
      text += chunk
      if (text.length > MAX_ERROR_BODY_BYTES) break
    }
  } catch {
    // The status says enough.
  }
  silence.stop()
  const kind = providerErrorKind(tryParseJsonObject(text) ?? {})
  // A used-up quota is told as a rate limit, but waiting does not bring it back.
  const again = (status === 408 || status === 429 || status >= 500) && !kind.includes('insufficient_quota')
  return providerFailure(`answered ${status}${kind}`, {
    status,
    isRetryable: again,
    retryAfterMs: parseRetryAfter(message.headers, now),
  })
}

/** `retry-after` in seconds or as a date, or in milliseconds in a header of OpenAI's own. */
function parseRetryAfter(headers: http.IncomingHttpHeaders, now: number): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(ms)) return Math.max(0, ms)
  const given = headers['retry-after']
  if (given === undefined) return null
  const seconds = Number(given)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(given) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}

function providerFailure(sentence: string, more: Partial<ProviderFailure> & { isRetryable: boolean }): ProviderFailure {
  return { message: sentence, status: null, retryAfterMs: null, ...more }
}

function networkErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'connection failed'
}

/** Tells when the provider has said nothing for too long while somebody waited for it. */
class IdleTimer {
  onSilent: () => void = () => {}
  /** It lasted too long. */
  broken = false
  #since: number | null = null
  #cancel: (() => void) | null = null
  readonly clock: Clock
  readonly #ms: number

  constructor(clock: Clock, ms: number) {
    this.clock = clock
    this.#ms = ms
  }

  wait(): void {
    this.#since = this.clock.now()
    // One timer for many chunks: it looks at the time when it fires and not at each of them.
    this.#cancel ??= this.clock.after(this.#ms, () => this.#look())
  }

  pause(): void {
    this.#since = null
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#since = null
  }

  #look(): void {
    this.#cancel = null
    if (this.#since === null) return
    const left = this.#since + this.#ms - this.clock.now()
    if (left <= 0) {
      this.broken = true
      return this.onSilent()
    }
    this.#cancel = this.clock.after(left, () => this.#look())
  }
}
