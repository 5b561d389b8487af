import { tryParseJsonObject, objectListField } from '../../base/json-fields.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { EXIT_CODE, CommandFailure, commandFailed } from './failure.ts'

/** The service over HTTP. Every refusal becomes a failure that says what to do. */
export interface ServiceClient {
  url: string
  call(method: string, path: string, body?: Json, headers?: Record<string, string>): Promise<JsonObject>
  /** Pages of a list, up to `most` entries. */
  list(path: string, query: Record<string, string | undefined>, most: number): Promise<JsonObject[]>
  /** An answer whose body is read piece by piece. */
  open(path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
}

export function createServiceClient(url: string, given: string | undefined): ServiceClient {
  const base = url.replace(/\/+$/, '')
  const key = given?.trim()
  const send = (method: string, path: string, init: RequestOptions) => sendRequest(base, key, method, path, init)
  const call: ServiceClient['call'] = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await send(method, path, { ...sent, headers: { ...type, ...headers } })
    return parseResponse(base, await readBody(base, response))
  }
  return {
    url: base,
    call,
    list: (path, query, most) => listPages(call, path, query, most),
    open: (path, headers = {}, signal) => send('GET', path, { headers, ...(signal && { signal }) }),
  }
}

const PAGE_SIZE = 200

async function listPages(
  call: ServiceClient['call'],
  path: string,
  query: Record<string, string | undefined>,
  most: number,
) {
  const found: JsonObject[] = []
  let cursor: string | undefined
  while (found.length < most) {
    const words = new URLSearchParams({ limit: String(Math.min(PAGE_SIZE, most - found.length)) })
    for (const [name, value] of Object.entries({ ...query, cursor })) if (value !== undefined) words.set(name, value)
    const answer = await call('GET', `${path}?${words.toString()}`)
    found.push(...objectListField(answer, 'data'))
    if (typeof answer.next_cursor !== 'string') break
    cursor = answer.next_cursor
  }
  return found
}

interface RequestOptions {
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
}

async function sendRequest(base: string, key: string | undefined, method: string, path: string, init: RequestOptions) {
  if (key && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandFailure(EXIT_CODE.unauthorised, 'the key has characters that no key has', 'see --key and SVC_KEY')
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
  const why = cause instanceof Error ? ('code' in cause && String(cause.code)) || cause.message : String(cause)
  return new CommandFailure(EXIT_CODE.unreachable, `cannot reach ${base}: ${why}`, startHint)
}

const startHint = (svc: string) => `start it with \`${svc} serve\`, or say where it is with --url or SVC_URL`

function toRefusal(response: Response, text: string, key: string | undefined): CommandFailure {
  const error = tryParseJsonObject(text)?.error
  const message = typeof error === 'string' ? error : `the service answered ${response.status}`
  if (response.status === 401) {
    const advice = key
      ? 'the key is unknown to this service: see --key and SVC_KEY'
      : (svc: string) =>
          `give the founder key with --key, or export SVC_KEY=svc_key_… (the first \`${svc} serve\` prints one)`
    return new CommandFailure(EXIT_CODE.unauthorised, message, advice)
  }
  if (response.status === 403) return new CommandFailure(EXIT_CODE.unauthorised, message)
  const wait = response.headers.get('retry-after')
  return commandFailed(message, wait ? `try again in ${wait} s` : undefined)
}

/** Any server of pages may answer 200: nothing is made of what is not the service's. */
function parseResponse(base: string, text: string): JsonObject {
  const answer = text === '' ? {} : tryParseJsonObject(text)
  if (answer) return answer
  const advice = 'say where the service is with --url or SVC_URL'
  throw new CommandFailure(EXIT_CODE.unreachable, `${base} does not answer like the service`, advice)
}
