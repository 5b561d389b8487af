import { capitalize } from '../ui/humanize.ts'
import { SESSION_EXPIRED } from './portal-api.ts'
import { portalText } from './text.ts'

/** What the client reads when a request fails. */
export function portalErrorMessage(error: unknown): string {
  // `fetch` throws a TypeError if it cannot reach the service.
  if (error instanceof TypeError) return portalText.offline
  const message = error instanceof Error ? error.message : String(error)
  return message === SESSION_EXPIRED ? portalText.sessionEnded : capitalize(message)
}
