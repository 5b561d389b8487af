/** An error for the caller: a status and a lower-case sentence. Every other error becomes a 500. */
export class Problem extends Error {
  readonly status: number
  /** Additional fields of the response body, such as `missing` when a blueprint is not ready. */
  readonly extra: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(
    status: number,
    message: string,
    more: { extra?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.extra = more.extra ?? {}
    this.headers = more.headers ?? {}
  }
}

/** Returns a problem and throws every other error. */
export function problemOrThrow(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

export const badRequest = (message: string) => new Problem(400, message)
export const unauthorized = () =>
  new Problem(401, 'a valid credential is required', { headers: { 'www-authenticate': 'Bearer' } })
export const forbidden = (message: string) => new Problem(403, message)
/** An absent row and one out of scope get the same error, so that callers cannot probe for ids. */
export const notFound = (thing: string) => new Problem(404, `no such ${thing}`)
export const conflict = (message: string, extra: Record<string, unknown> = {}) => new Problem(409, message, { extra })
export const tooLarge = (message: string) => new Problem(413, message)
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new Problem(429, message, { headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) } })
