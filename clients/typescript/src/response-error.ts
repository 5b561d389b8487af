import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  ServiceError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
} from './errors.ts'

const CLASSES: { [status: number]: typeof ServiceError } = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: TooManyRequestsError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
}

/** The error of a response, from its status, the text of its body and its headers. */
export function toServiceError(status: number, text: string, header: (name: string) => string | null): ServiceError {
  // A proxy may respond with a page instead of JSON.
  const body = parseJson(text) ?? text
  const message = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  const ErrorClass = CLASSES[status] ?? ServiceError
  return new ErrorClass(typeof message === 'string' ? message : describeStatus(status, header('location')), {
    status,
    body,
    retryAfterS: parseRetryAfter(header('retry-after')),
    requestId: header('x-request-id'),
  })
}

/** The JSON value of a text, or undefined if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Browsers hide the status of a redirect, and show 0. */
function describeStatus(status: number, location: string | null): string {
  if (status !== 0 && (status < 300 || status >= 400)) return `the service returned status ${status}`
  return `the address of the service redirects${location === null ? '' : ` to ${location}`}: use its final address`
}

/** The service sends seconds; a proxy before it may send a date. */
function parseRetryAfter(text: string | null): number | null {
  if (text === null) return null
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
