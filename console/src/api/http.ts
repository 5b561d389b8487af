import * as credential from './credential.ts'

/** The service's refusal, in its own sentence. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Asks beyond the chosen project. */
  allProjects?: boolean
}

/** The one door to the API. What is asked for is what the contract promises, so the answer's type is the caller's word. */
export async function callApi<T>(path: string, options: ApiRequest = {}): Promise<T> {
  const response = await fetchResponse(path, options)
  // The contract's types are promised by the service, not proven here.
  return (response.status === 204 ? null : await response.json()) as T
}

/** The raw answer, for streams and artifacts. Refusals become an ApiError here too. */
export async function fetchResponse(path: string, options: ApiRequest = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal, allProjects = false } = options
  const response = await fetch(path, {
    method,
    headers: {
      ...authorization(allProjects),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  updateClockOffset(response)
  if (response.ok) return response
  if (response.status === 401 && credential.getToken() !== null) window.dispatchEvent(new Event('svc:signed-out'))
  throw new ApiError(response.status, await readErrorMessage(response))
}

function authorization(everyProject: boolean): Record<string, string> {
  const token = credential.getToken()
  const project = everyProject ? null : credential.getProject()
  return {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(token && project && { 'x-svc-project': project }),
  }
}

async function readErrorMessage(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null)
  if (typeof body === 'object' && body !== null && 'error' in body) return String(body.error)
  return `the service answered ${response.status}`
}

/** How far the service's clock is ahead of this one: a countdown must end when the service says so. */
let clockOffsetMs = 0

function updateClockOffset(response: Response): void {
  const date = Date.parse(response.headers.get('date') ?? '')
  // The header has whole seconds; less than two of difference is not worth a jump.
  if (!Number.isNaN(date)) clockOffsetMs = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now()
}

export const serverNow = (): number => Date.now() + clockOffsetMs

/** The same call for a terminal; the key stands there as a variable, never as itself. */
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
  if (error instanceof TypeError) return 'the service cannot be reached'
  return error instanceof Error ? error.message : String(error)
}
