import { ApiError } from '../api/request.ts'
import type { PortalText } from '../../../client-text/en.ts'

/** What the client reads when a request fails. */
export function portalErrorMessage(error: unknown, text: PortalText): string {
  // `fetch` throws a TypeError if it cannot reach the service.
  if (error instanceof TypeError) return text.offline
  if (!(error instanceof ApiError)) return text.tryAgain
  const messages: Record<number, string> = {
    400: text.tryAgain,
    401: text.sessionEnded,
    404: text.notPossible,
    409: text.notPossible,
    413: text.tooLong,
    429: text.tooMany,
  }
  return messages[error.status] ?? text.unexpectedStatus(error.status)
}
