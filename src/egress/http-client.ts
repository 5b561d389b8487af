import { lookup as systemLookup } from 'node:dns'
import http, { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Ctx } from '../ctx/ctx.ts'
import { isAllowedAddress, type AllowedHosts, parseAllowedHosts } from './address-rules.ts'

interface EgressRequest {
  url: string | URL
  method: string
  headers?: Record<string, string>
  body?: string | Buffer
  /** For the whole call, from the question for the address to the last byte. */
  timeoutMs: number
  maxBytes: number
}

export interface EgressResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export type EgressErrorKind = 'blocked' | 'timeout' | 'unreachable' | 'too_large' | 'unreadable'

export class EgressError extends Error {
  readonly kind: EgressErrorKind
  /** False when it is certain that the other side has not seen the request. */
  readonly sent: boolean
  /** What the other side answered before the call failed, if it did. */
  readonly status: number | null
  constructor(kind: EgressErrorKind, message: string, seen: Partial<CallProgress> = {}) {
    super(message)
    this.kind = kind
    this.sent = seen.sent ?? false
    this.status = seen.status ?? null
  }
}

export interface EgressClient {
  request(ask: EgressRequest): Promise<EgressResponse>
}

export interface EgressOptions {
  /** Hosts that the operator's own settings name, such as the broker's; they may be private. */
  trusted?: string[]
  /** For tests: name servers that change their mind. */
  lookup?: typeof systemLookup
}

/**
 * The only way out. Every address is judged where the connection is made, so a name that changes between check and
 * call gains nothing. Redirects are answers like any other and never followed.
 */
export function createEgressClient(ctx: Pick<Ctx, 'config' | 'world'>, options: EgressOptions = {}): EgressClient {
  const reach = parseAllowedHosts([...ctx.config.egressAllow, ...(options.trusted ?? [])])
  const lookup = guardedLookup(reach, options.lookup ?? systemLookup)
  return {
    async request(ask) {
      const url = requireAllowedUrl(reach, ask.url)
      return sendRequest(url, ask, lookup, (call) => ctx.world.clock.after(ask.timeoutMs, call))
    },
  }
}

/** Why a call to the URL would be refused without even looking up its name, or null. */
export function findUrlProblem(reach: AllowedHosts, text: string | URL): string | null {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : null
  if (!url) return 'it is not a url'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'only http and https are allowed'
  if (url.username || url.password) return 'a url must not carry a user or password'
  const host = hostWithoutBrackets(url)
  if (isIP(host) && !isAllowedAddress(reach, host, host)) return 'its address is private or reserved'
  return null
}

function requireAllowedUrl(reach: AllowedHosts, text: string | URL): URL {
  const problem = findUrlProblem(reach, text)
  if (problem) throw new EgressError('blocked', `destination is not allowed: ${problem}`)
  return new URL(String(text))
}

const hostWithoutBrackets = (url: URL): string => url.hostname.replaceAll(/[[\]]/g, '')

function guardedLookup(reach: AllowedHosts, lookup: typeof systemLookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isAllowedAddress(reach, host, address))) {
        return done(new EgressError('blocked', 'destination is not allowed: its address is private or reserved'), [])
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

type StartTimeout = (call: () => void) => () => void

function sendRequest(
  url: URL,
  ask: EgressRequest,
  lookup: LookupFunction,
  timer: StartTimeout,
): Promise<EgressResponse> {
  return new Promise((resolve, reject) => {
    const seen: CallProgress = { sent: false, status: null }
    const request = openRequest(url, toRequestOptions(ask, lookup))
    const stop = timer(() => fail(new EgressError('timeout', 'the other side took too long', seen)))
    const fail = (error: Error) => {
      stop()
      request.destroy()
      reject(error instanceof EgressError ? error : toUnreachableError(error, seen))
    }
    request.on('error', fail)
    // After an answer has begun, the end of the socket is told by its body.
    request.once('close', () => seen.status === null && fail(new Error('connection closed')))
    request.once('socket', (socket: Socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        seen.sent = true
      })
    })
    request.once('response', (response) => {
      seen.status = response.statusCode ?? 0
      readBody(response, ask.maxBytes, seen).then((incoming) => {
        stop()
        resolve(incoming)
      }, fail)
    })
    request.end(ask.body)
  })
}

/** What a header cannot carry is refused here, and nothing of it told: it may be a secret. */
function openRequest(url: URL, options: RequestOptions): http.ClientRequest {
  try {
    return (url.protocol === 'https:' ? https : http).request(url, options)
  } catch {
    throw new EgressError('blocked', 'the request cannot be sent: a header has characters that it cannot carry')
  }
}

function toRequestOptions(ask: EgressRequest, lookup: LookupFunction): RequestOptions {
  const headers: Record<string, string | number> = {
    'user-agent': 'agent-work-service',
    ...ask.headers,
    'accept-encoding': 'identity',
  }
  if (ask.body !== undefined) headers['content-length'] = Buffer.byteLength(ask.body)
  // A connection of its own for each call: on a reused one nobody can tell whether a broken request was seen.
  return { method: ask.method, headers, lookup, agent: false }
}

async function readBody(response: IncomingMessage, maxBytes: number, seen: CallProgress): Promise<EgressResponse> {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new EgressError('unreadable', 'the answer is compressed, which was not asked for', seen)
  const chunks: Buffer[] = []
  let size = 0
  if (Number(response.headers['content-length'] ?? 0) > maxBytes && response.statusCode !== 304)
    throw tooLarge(maxBytes, seen)
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) throw tooLarge(maxBytes, seen)
    chunks.push(bytes)
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }
}

const tooLarge = (maxBytes: number, seen: CallProgress) =>
  new EgressError('too_large', `the answer is larger than ${Math.floor(maxBytes / 1024)} KB`, seen)

/** Only the error's code is told: messages of the network stack carry addresses, and nobody outside needs them. */
function toUnreachableError(error: Error, seen: CallProgress): EgressError {
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  const when = seen.sent ? 'the connection broke before the answer was complete' : 'the other side cannot be reached'
  return new EgressError('unreachable', `${when}${code}`, seen)
}
