import type { ReadableStream } from 'node:stream/web'
import { tryParseJsonObject, objectListField } from '../../../platform/base/json-fields.ts'
import type { Json, JsonObject } from '../../../platform/base/json.ts'
import { removeTrailingSlashes } from '../../../platform/base/text.ts'
import { EXIT_CODE, CommandFailure, commandFailed } from './failure.ts'

/** Calls the service over HTTP. An error response becomes a CommandFailure with a hint. */
export interface ServiceClient {
  url: string
  call(method: string, path: string, body?: Json, headers?: Record<string, string>): Promise<JsonObject>
  /** Reads the pages of a list, up to `limit` entries. */
  list(path: string, query: Record<string, string | undefined>, limit: number): Promise<JsonObject[]>
  /** Sends a body as it is read. */
  upload(path: string, body: ReadableStream): Promise<JsonObject>
  /** Returns a response whose body the caller reads as a stream. */
  open(path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
}

export function createServiceClient(url: string, apiKey: string | undefined): ServiceClient {
  const base = removeTrailingSlashes(url)
  const key = apiKey?.trim()
  const send = (method: string, path: string, init: RequestOptions) => sendRequest(base, key, method, path, init)
  const call: ServiceClient['call'] = async (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await send(method, path, { ...json, headers: { ...type, ...headers } })
    return parseResponse(base, await readBody(base, response))
  }
  return {
    url: base,
    call,
    async upload(path, body) {
      const response = await send('POST', path, { headers: {}, body, duplex: 'half' })
      return parseResponse(base, await readBody(base, response))
    },
    list: (path, query, limit) => listPages(call, path, query, limit),
    open: (path, headers = {}, signal) => send('GET', path, { headers, ...(signal && { signal }) }),
  }
}

const PAGE_SIZE = 200

async function listPages(
  call: ServiceClient['call'],
  path: string,
  query: Record<string, string | undefined>,
  limit: number,
) {
  const items: JsonObject[] = []
  let cursor: string | undefined
  while (items.length < limit) {
    const params = new URLSearchParams({ limit: String(Math.min(PAGE_SIZE, limit - items.length)) })
    for (const [name, value] of Object.entries({ ...query, cursor })) if (value !== undefined) params.set(name, value)
    const page = await call('GET', `${path}?${params.toString()}`)
    items.push(...objectListField(page, 'data'))
    if (typeof page.next_cursor !== 'string') break
    cursor = page.next_cursor
  }
  return items
}

interface RequestOptions {
  headers: Record<string, string>
  body?: string | ReadableStream
  /** Required for a body that is a stream. */
  duplex?: 'half'
  signal?: AbortSignal
}

async function sendRequest(base: string, key: string | undefined, method: string, path: string, init: RequestOptions) {
  if (key && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandFailure(
      EXIT_CODE.unauthorised,
      'the API key contains invalid characters',
      'check --key or SVC_KEY',
    )
  }
  const authorization = key ? { authorization: `Bearer ${key}` } : {}
  const headers = { ...authorization, ...init.headers }
  const response = await fetch(base + path, { ...init, method, headers }).catch((error: unknown) => {
    throw init.signal?.aborted ? error : toUnreachable(base, error)
  })
  if (response.ok) return response
  throw toRefusal(response, await readBody(base, response), key)
}

async function readBody(base: string, response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw toUnreachable(base, error)
  }
}

function toUnreachable(base: string, error: unknown): CommandFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const reason = cause instanceof Error ? ('code' in cause && String(cause.code)) || cause.message : String(cause)
  return new CommandFailure(EXIT_CODE.unreachable, `cannot reach ${base}: ${reason}`, startHint)
}

const startHint = (svc: string) => `start the service with \`${svc} serve\`, or set its URL with --url or SVC_URL`

function toRefusal(response: Response, text: string, key: string | undefined): CommandFailure {
  const error = tryParseJsonObject(text)?.error
  const message = typeof error === 'string' ? error : `the service returned status ${response.status}`
  if (response.status === 401) {
    const advice = key
      ? 'the service does not know this API key: check --key or SVC_KEY'
      : (svc: string) => `set the API key with SVC_KEY or --key (the first \`${svc} serve\` prints the founder key)`
    return new CommandFailure(EXIT_CODE.unauthorised, message, advice)
  }
  if (response.status === 403) return new CommandFailure(EXIT_CODE.unauthorised, message)
  const seconds = response.headers.get('retry-after')
  return commandFailed(message, seconds ? `try again in ${seconds} s` : undefined)
}

/** Another web server may return 200 too, so a body that is not a JSON object is an error. */
function parseResponse(base: string, text: string): JsonObject {
  const response = text === '' ? {} : tryParseJsonObject(text)
  if (response) return response
  const advice = 'set the URL of the service with --url or SVC_URL'
  throw new CommandFailure(EXIT_CODE.unreachable, `${base} is not an Agent Work Service`, advice)
}

export const approvalPath = (approvalId: string) => `/v1/approvals/${encodeURIComponent(approvalId)}`
