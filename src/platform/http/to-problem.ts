import { Problem } from '../base/problem.ts'
import { StoreUnavailable } from '../store/errors.ts'

/** The error that the caller gets: a known one or an unavailable store. Null for an internal error. */
export function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable) return new Problem(503, error.message, { headers: { 'retry-after': '1' } })
  return null
}
