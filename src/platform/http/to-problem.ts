import { badRequest, Problem, tooLarge } from '../base/problem.ts'
import { StoreUnavailable } from '../store/errors.ts'

/** The error that the caller gets: a known one, an unavailable store or a refusal by Fastify. Null for an internal error. */
export function toProblem(error: unknown, maxBodyBytes = MEBIBYTE): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable) return new Problem(503, error.message, { headers: { 'retry-after': '1' } })
  return error instanceof Error ? fastifyProblem(error, maxBodyBytes) : null
}

const MEBIBYTE = 1024 * 1024

const formatLimit = (bytes: number): string => (bytes >= MEBIBYTE ? `${bytes / MEBIBYTE} MiB` : `${bytes / 1024} KiB`)

function fastifyProblem(
  { code, statusCode = 0, message }: Error & { code?: string; statusCode?: number },
  maxBodyBytes: number,
): Problem | null {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(`body is larger than ${formatLimit(maxBodyBytes)}`)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Problem(415, 'content type must be application/json')
  if (code === 'FST_ERR_BAD_URL') return badRequest('path is not valid')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new Problem(414, 'path is too long')
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return badRequest('body does not match its content-length')
  if (statusCode < 400 || statusCode >= 500) return null
  return new Problem(statusCode, message.charAt(0).toLowerCase() + message.slice(1))
}
