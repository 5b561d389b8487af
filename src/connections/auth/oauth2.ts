import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Connection } from '../connection/rows.ts'
import { readAccessToken } from './access-token.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'
import { addBearerToken } from './header.ts'

/**
 * An access token of the connection as bearer token. `rejected` are tokens that the server has answered with 401. The
 * client secret is not sent to the API, but a provider that serves both could echo it, so it is masked as well.
 */
export async function addAccessToken(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  request: OutgoingRequest,
  [rejected]: readonly string[] = [],
): Promise<AuthorizedRequest> {
  const token = await readAccessToken(ctx, connection, secret, { rejected })
  const authorized = addBearerToken(connection, token, request)
  return { ...authorized, secrets: secret === null ? [token] : [token, secret] }
}
