import * as credential from './credential.ts'
import { apiText } from './text.ts'

/** An error response, with the message of the server. */
export class ApiError extends Error {
  readonly status: number
  /** The body of the response, which may say more than the message. */
  readonly body: unknown
  constructor(status: number, message: string, body: unknown = null) {
    super(message)
    this.status = status
    this.body = body
  }
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Sent as JSON, except a Blob, which is sent as it is. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Leaves out the header that limits the request to the selected project. */
  allProjects?: boolean
}

/** Sends a request and parses the JSON response. The caller states the response type of the API contract. */
export async function callApi<T>(path: string, options: ApiRequest = {}): Promise<T> {
  const response = await fetchResponse(path, options)
  // The response type is not checked at run time.
  return (response.status === 204 ? null : await response.json()) as T
}

/** Sends the bytes of a file and parses the JSON response. */
export async function uploadFile<T>(path: string, file: Blob): Promise<T> {
  const headers = { 'content-type': file.type || 'application/octet-stream' }
  const response = await fetchResponse(path, { method: 'POST', body: file, headers })
  // The response type is not checked at run time.
  return (await response.json()) as T
}

/** Sends a request and returns the raw response, for streams and files. An error response throws an ApiError. */
export async function fetchResponse(path: string, options: ApiRequest = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal, allProjects = false } = options
  const token = credential.getToken()
  const response = await fetch(path, {
    method,
    headers: {
      ...authorization(allProjects),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  updateClockOffset(response)
  if (response.ok) {
    markDataFresh()
    return response
  }
  // Not for a credential that the caller passed itself, or that was replaced while the request was on its way.
  const usedStoredToken = token !== null && headers?.['authorization'] === undefined && token === credential.getToken()
  if (response.status === 401 && usedStoredToken) window.dispatchEvent(new Event('svc:signed-out'))
  const problem: unknown = await response.json().catch(() => null)
  throw new ApiError(response.status, problemMessage(response.status, problem), problem)
}

function authorization(allProjects: boolean): Record<string, string> {
  const token = credential.getToken()
  const project = allProjects ? null : credential.getProject()
  return {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(token && project && { 'x-svc-project': project }),
  }
}

function problemMessage(status: number, body: unknown): string {
  if (typeof body === 'object' && body !== null && 'error' in body) return String(body.error)
  return apiText.unexpectedStatus(status)
}

let freshAtMs = Date.now()

/** The data on the screen is up to date until now. */
export function markDataFresh(): void {
  freshAtMs = Date.now()
}

/** When the data on the screen was last up to date. */
export const dataFreshAt = (): number => freshAtMs

/** How far the server's clock is ahead of the browser's. Countdowns use it, because the server decides when they end. */
let clockOffsetMs = 0

function updateClockOffset(response: Response): void {
  const date = Date.parse(response.headers.get('date') ?? '')
  // The header has whole seconds, so differences below 2 s are ignored.
  if (!Number.isNaN(date)) clockOffsetMs = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now()
}

export const serverNow = (): number => Date.now() + clockOffsetMs

/** The request as a curl command. The key is a shell variable, so that the command can be shared. */
export function toCurl(path: string, { method = 'GET', body, headers }: ApiRequest = {}): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quote(location.origin + path)}`]
  lines.push('-H "Authorization: Bearer $SVC_KEY"')
  for (const [name, value] of Object.entries(headers ?? {})) lines.push(`-H ${quote(`${name}: ${value}`)}`)
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof TypeError) return apiText.unreachable
  return error instanceof Error ? error.message : String(error)
}
