import { lookup as systemLookup } from 'node:dns'
import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Ctx } from '../ctx/ctx.ts'
import { type AllowedHosts, isAllowedAddress, parseAllowedHosts, PRIVATE_ADDRESS } from './address-rules.ts'

/** Limits of one call to a connection or to the broker. */
export const CALL_TIMEOUT_MS = 20_000
export const MAX_CALL_BYTES = 256 * 1024

/** A body with files takes longer to send: one more second for each 512 KiB, as over a connection with 4 Mbit/s. */
export const callTimeoutMs = (bodyBytes: number): number =>
  CALL_TIMEOUT_MS + Math.floor(bodyBytes / (512 * 1024)) * 1000

interface EgressRequest {
  url: string | URL
  method: string
  headers?: Record<string, string>
  body?: string | Buffer
  /** For the whole call, from the DNS lookup to the last byte. */
  timeoutMs: number
  /** Limit of the response body. */
  maxBytes: number
}

/** A request whose response is read as it arrives. The caller limits its time: an abort ends it at any point. */
export interface EgressStreamRequest extends Omit<EgressRequest, 'timeoutMs'> {
  signal: AbortSignal
}

interface ResponseHead {
  status: number
  headers: IncomingHttpHeaders
}

export interface EgressResponse extends ResponseHead {
  body: Buffer
}

/** Reading the body throws an `EgressError` when the limit is passed, the call is aborted or the connection closes. */
export interface EgressStream extends ResponseHead {
  body: AsyncIterable<Buffer>
}

export type EgressErrorKind = 'blocked' | 'timeout' | 'unreachable' | 'too_large' | 'unreadable'

export class EgressError extends Error {
  readonly kind: EgressErrorKind
  /** False only when the server has certainly not seen the request. */
  readonly sent: boolean
  /** The response status, if one arrived before the call failed. */
  readonly status: number | null
  constructor(kind: EgressErrorKind, message: string, progress: Partial<CallProgress> = {}) {
    super(message)
    this.kind = kind
    this.sent = progress.sent ?? false
    this.status = progress.status ?? null
  }
}

export interface EgressClient {
  request(request: EgressRequest): Promise<EgressResponse>
  stream(request: EgressStreamRequest): Promise<EgressStream>
}

export interface EgressOptions {
  /** Hosts from the operator's own settings, such as the broker's; they may be private. */
  trusted?: string[]
  /** Tests replace the DNS lookup. */
  lookup?: typeof systemLookup
}

/**
 * The HTTP client for every call that leaves the service. It checks each address at connect time, so a DNS name that
 * changes between check and call cannot reach a private network. It returns redirects and never follows them.
 */
export function createEgressClient(ctx: Pick<Ctx, 'config' | 'world'>, options: EgressOptions = {}): EgressClient {
  const allowlist = [...ctx.config.egressAllow, ...(options.trusted ?? [])]
  const send = async (request: Omit<EgressRequest, 'timeoutMs'>, startTimeout: StartTimeout) => {
    const url = requireAllowedUrl(allowlist, request.url)
    const lookup = guardedLookup(allowedHostsOf(allowlist, url), options.lookup ?? systemLookup)
    return sendRequest(url, request, lookup, startTimeout)
  }
  return {
    async request(request) {
      const response = await send(request, (onTimeout) => ctx.world.clock.after(request.timeoutMs, onTimeout))
      return { ...response, body: await readAll(response.body) }
    },
    stream: (request) => send(request, (onTimeout) => callOnAbort(request.signal, onTimeout)),
  }
}

function callOnAbort(signal: AbortSignal, call: () => void): () => void {
  if (signal.aborted) queueMicrotask(call)
  else signal.addEventListener('abort', call, { once: true })
  return () => signal.removeEventListener('abort', call)
}

async function readAll(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The entries of the list that hold for the port of the URL. */
export const allowedHostsOf = (allowlist: readonly string[], { protocol, port }: URL): AllowedHosts =>
  parseAllowedHosts(allowlist, Number(port || (protocol === 'https:' ? 443 : 80)))

/** Why a call to the URL would be blocked without a DNS lookup, or null. */
export function findUrlProblem(allowlist: readonly string[], text: string | URL): string | null {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : null
  if (!url) return 'it is not a url'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'only http and https are allowed'
  if (url.username || url.password) return 'a url must not carry a user or password'
  const host = hostWithoutBrackets(url)
  if (isIP(host) && !isAllowedAddress(allowedHostsOf(allowlist, url), host, host)) return PRIVATE_ADDRESS
  return null
}

function requireAllowedUrl(allowlist: readonly string[], text: string | URL): URL {
  const problem = findUrlProblem(allowlist, text)
  if (problem) throw new EgressError('blocked', `destination is not allowed: ${problem}`)
  return new URL(String(text))
}

const hostWithoutBrackets = (url: URL): string => url.hostname.replaceAll(/[[\]]/g, '')

/** A DNS lookup that fails if one of the addresses is not allowed. */
export function guardedLookup(allowed: AllowedHosts, lookup: typeof systemLookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isAllowedAddress(allowed, host, address))) {
        return done(new EgressError('blocked', `destination is not allowed: ${PRIVATE_ADDRESS}`), [])
      }
      if (options.all) return done(null, addresses)
      return done(null, first.address, first.family)
    })
  }
}

interface CallProgress {
  sent: boolean
  status: number | null
}

type StartTimeout = (onTimeout: () => void) => () => void

/** Resolves when the response starts. The time limit holds until its last byte is read. */
function sendRequest(
  url: URL,
  { method, headers, body, maxBytes }: Omit<EgressRequest, 'timeoutMs'>,
  lookup: LookupFunction,
  startTimeout: StartTimeout,
): Promise<EgressStream> {
  return new Promise((resolve, reject) => {
    const progress: CallProgress = { sent: false, status: null }
    const request = openRequest(url, toRequestOptions(method, headers, body, lookup))
    let started: IncomingMessage | null = null
    const stopTimeout = startTimeout(() =>
      fail(new EgressError('timeout', 'the server did not respond in time', progress)),
    )
    const fail = (error: Error) => {
      stopTimeout()
      const failure = toEgressError(error, progress)
      // The reader of the body gets the error.
      started?.destroy(failure)
      request.destroy()
      reject(failure)
    }
    request.on('error', fail)
    // Once a response has started, reading its body reports a closed socket.
    request.once('close', () => progress.status === null && fail(new Error('connection closed')))
    request.once('socket', (socket: Socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        progress.sent = true
      })
    })
    request.once('response', (response) => {
      const status = response.statusCode ?? 0
      progress.status = status
      started = response.on('error', () => {}).once('close', stopTimeout)
      resolve({ status, headers: response.headers, body: readBody(response, maxBytes, progress) })
    })
    request.end(body)
  })
}

/** Node.js quotes an invalid header in its error, and the header may be a secret: so its error is replaced. */
function openRequest(url: URL, options: RequestOptions): http.ClientRequest {
  try {
    return (url.protocol === 'https:' ? https : http).request(url, options)
  } catch {
    throw new EgressError('blocked', 'the request cannot be sent: a header contains characters that are not allowed')
  }
}

function toRequestOptions(
  method: string,
  given: EgressRequest['headers'],
  body: EgressRequest['body'],
  lookup: LookupFunction,
): RequestOptions {
  const headers: Record<string, string | number> = {
    'user-agent': 'agent-work-service',
    ...given,
    'accept-encoding': 'identity',
  }
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body)
  // Every call opens its own connection: on a reused one it is unknown whether the server saw a failed request.
  return { method, headers, lookup, agent: false }
}

async function* readBody(
  response: IncomingMessage,
  maxBytes: number,
  progress: CallProgress,
): AsyncGenerator<Buffer, void, void> {
  try {
    const encoding = response.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity')
      throw new EgressError('unreadable', 'the response is compressed although no compression was requested', progress)
    if (Number(response.headers['content-length'] ?? 0) > maxBytes && response.statusCode !== 304)
      throw tooLarge(maxBytes, progress)
    let size = 0
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > maxBytes) throw tooLarge(maxBytes, progress)
      yield bytes
    }
  } catch (error) {
    throw toEgressError(error, progress)
  } finally {
    response.destroy()
  }
}

const tooLarge = (maxBytes: number, progress: CallProgress) =>
  new EgressError('too_large', `the response is larger than ${Math.floor(maxBytes / 1024)} KB`, progress)

/** Shows only the error code, because messages of the network stack contain internal addresses. */
export function toEgressError(error: unknown, progress: Partial<CallProgress> = {}): EgressError {
  if (error instanceof EgressError) return error
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  const message = progress.sent
    ? 'the connection closed before the response was complete'
    : 'the server cannot be reached'
  return new EgressError('unreachable', `${message}${code}`, progress)
}
