import { toRequest } from '../../../clients/typescript/src/operation.ts'
import * as credential from './credential.ts'
import { OPERATIONS, type Operations } from './openapi.ts'
import { ApiError, type ApiRequest, createCallOperation, sendRequest, toApiError } from './request.ts'
import { apiText } from './text.ts'

export interface PageRequest extends ApiRequest {
  /** Leaves out the header that limits the request to the selected project. */
  allProjects?: boolean
}

/** Sends a request and returns the raw response, for streams and files. An error response throws an ApiError. */
export async function fetchResponse(path: string, options: PageRequest = {}): Promise<Response> {
  const { allProjects = false, ...request } = options
  const token = credential.getToken()
  const response = await sendRequest(path, request, authorization(allProjects))
  updateClockOffset(response)
  if (response.ok) {
    markDataFresh()
    return response
  }
  // Not for a credential that the caller passed itself, or that was replaced while the request was on its way.
  const usedStoredToken =
    token !== null && request.headers?.['authorization'] === undefined && token === credential.getToken()
  if (response.status === 401 && usedStoredToken) window.dispatchEvent(new Event('svc:signed-out'))
  throw await toApiError(response)
}

/** Calls an operation with the credential and the project of the page. */
export const callOperation = createCallOperation(OPERATIONS, fetchResponse)

function authorization(allProjects: boolean): Record<string, string> {
  const token = credential.getToken()
  const project = allProjects ? null : credential.getProject()
  return {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(token && project && { 'x-svc-project': project }),
  }
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

/** The request of an operation as a curl command. The key is a shell variable, so that the command can be shared. */
export function toCurl<Id extends keyof typeof OPERATIONS>(operation: Id, params: Operations[Id]['params']): string {
  const { method, path, body } = toRequest(OPERATIONS[operation], params)
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quote(location.origin + path)}`]
  lines.push('-H "Authorization: Bearer $SVC_KEY"')
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof TypeError) return apiText.unreachable
  return error instanceof Error ? error.message : String(error)
}
