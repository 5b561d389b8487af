/** An error that the caller may read: a status and a lower-case sentence. Every other error is our fault: a 500. */
export class Problem extends Error {
  readonly status: number
  /** Further fields of the answer's body, such as `missing` of an activation that is not ready. */
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

/** The problem that an attempt ended with; an error of ours is thrown on. */
export function problemOrThrow(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

export const badRequest = (message: string) => new Problem(400, message)
export const unauthorized = () =>
  new Problem(401, 'a valid credential is required', { headers: { 'www-authenticate': 'Bearer' } })
export const forbidden = (message: string) => new Problem(403, message)
/** Absent and out of scope are told with the same words, so nobody can probe for ids. */
export const notFound = (thing: string) => new Problem(404, `no such ${thing}`)
export const conflict = (message: string, extra: Record<string, unknown> = {}) => new Problem(409, message, { extra })
export const tooLarge = (message: string) => new Problem(413, message)
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new Problem(429, message, { headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) } })
