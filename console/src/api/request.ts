import { type CallArguments, toRequest } from '../../../clients/typescript/src/operation.ts'
import type { Operations } from './openapi.ts'
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
  method?: string
  /** Sent as JSON, except a Blob, which is sent as it is. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** Sends a request with the headers of a credential. Resolves also with an error response. */
export function sendRequest(path: string, request: ApiRequest, credential: Record<string, string>): Promise<Response> {
  const { method = 'GET', body, headers, signal } = request
  const isFile = body instanceof Blob
  const contentType = isFile ? body.type || 'application/octet-stream' : 'application/json'
  return fetch(path, {
    method,
    headers: { ...credential, ...(body !== undefined && { 'content-type': contentType }), ...headers },
    ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

export async function toApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const hasMessage = typeof body === 'object' && body !== null && 'error' in body
  const message = hasMessage ? String(body.error) : apiText.unexpectedStatus(response.status)
  return new ApiError(response.status, message, body)
}

/** Calls operations by id through a function that adds a credential. Path and query parameters stand beside `body`. */
export function createCallOperation<Known extends keyof Operations, Options extends object>(
  routes: Record<Known, string>,
  fetchResponse: (path: string, options: Options & ApiRequest) => Promise<Response>,
) {
  return async <Id extends Known>(
    operation: Id,
    ...[params = {}, options]: CallArguments<Operations[Id]['params'], Options>
  ): Promise<Operations[Id]['result']> => {
    const { method, path, body } = toRequest(routes[operation], withoutEmpty(params))
    const response = await fetchResponse(path, { ...options, method, body } as Options & ApiRequest)
    const text = await response.text()
    // The types of results are generated, and not checked at run time.
    return (text === '' ? undefined : JSON.parse(text)) as Operations[Id]['result']
  }
}

/** A filter that is an empty text is no filter. */
const withoutEmpty = (params: object) => Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ''))
