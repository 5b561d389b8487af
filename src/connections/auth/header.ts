import { badRequest } from '../../platform/base/problem.ts'
import type { Connection } from '../connection/rows.ts'
import type { AuthConfig } from './auth-config.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'

/** `authorization: Bearer <secret>` (RFC 6750). */
export function addBearerToken(connection: Connection, secret: string, request: OutgoingRequest): AuthorizedRequest {
  return addSecretHeader(connection, { name: 'authorization', prefix: 'Bearer ' }, secret, request)
}

type HeaderAuth = Pick<Extract<AuthConfig, { type: 'header' }>, 'name' | 'prefix'>

/** The secret as the value of one header, such as `x-api-key`, after an optional prefix such as `Token `. */
export function addSecretHeader(
  connection: Connection,
  { name, prefix }: HeaderAuth,
  secret: string,
  request: OutgoingRequest,
): AuthorizedRequest {
  requireHeaderText(connection, secret)
  return { ...request, headers: withHeader(request.headers, name, `${prefix}${secret}`), secrets: [secret] }
}

/** Sets a header in place of one with the same name in any case, so that it is not sent twice. */
export function withHeader(headers: Record<string, string>, name: string, value: string): Record<string, string> {
  const lower = name.toLowerCase()
  const others = Object.entries(headers).filter(([other]) => other.toLowerCase() !== lower)
  return { ...Object.fromEntries(others), [lower]: value }
}

function requireHeaderText(connection: Connection, secret: string): void {
  if (/^[\x20-\x7e]+$/.test(secret)) return
  throw badRequest(`the secret of connection '${connection.name}' contains characters that are not allowed in a header`)
}
