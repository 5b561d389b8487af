import type { AuthConfig } from './auth-config.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'
import { withHeader } from './header.ts'

/** HTTP Basic (RFC 7617) in UTF-8. The secret is the password; the user name may be empty. */
export function addBasicAuth(
  { username }: Extract<AuthConfig, { type: 'basic' }>,
  secret: string,
  request: OutgoingRequest,
): AuthorizedRequest {
  const credentials = Buffer.from(`${username}:${secret}`).toString('base64')
  return {
    ...request,
    headers: withHeader(request.headers, 'authorization', `Basic ${credentials}`),
    secrets: [secret, credentials],
  }
}
