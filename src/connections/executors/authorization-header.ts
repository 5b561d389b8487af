import { badRequest } from '../../base/problem.ts'
import type { ConnectionUse } from './executor.ts'

/**
 * Puts the connection's secret into the Authorization header of an outgoing call. Email and custom connections use it;
 * webhook connections sign the body instead, and broker connections send the broker's own API key.
 */
export function authorizationHeader({
  connection,
  secret,
}: Pick<ConnectionUse, 'connection' | 'secret'>): Record<string, string> {
  if (secret === null) return {}
  if (!/^[\x20-\x7e]+$/.test(secret)) {
    throw badRequest(
      `the secret of connection '${connection.name}' contains characters that are not allowed in a header`,
    )
  }
  return { authorization: `Bearer ${secret}` }
}
