import type { AuthConfig } from './auth-config.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'

/**
 * The secret as a parameter of the URL. Nothing shows the URL of a request: errors and tests name its origin at most, and
 * a redirect is not followed, so the secret does not reach another server.
 */
export function addQueryParameter(
  { name }: Extract<AuthConfig, { type: 'query' }>,
  secret: string,
  request: OutgoingRequest,
): AuthorizedRequest {
  const url = new URL(request.url)
  // `set` also removes a parameter of the same name that an agent has put into the path.
  url.searchParams.set(name, secret)
  return { ...request, url, secrets: [secret] }
}
