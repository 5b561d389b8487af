import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import type { Connection } from '../rows.ts'

/** A request before it is sent. */
export interface OutgoingRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body?: string | Buffer | undefined
}

/** A request with the connection's credential in it. */
export interface AuthorizedRequest extends OutgoingRequest {
  /** Every secret text in the request. The response must not show them. */
  secrets: string[]
}

/**
 * Adds the connection's credential to a request, as `config.auth` says. Every request of email and custom connections
 * goes through it; webhook connections sign the body instead, and broker connections send the broker's own API key.
 */
export async function authorizeRequest(
  _ctx: Ctx,
  connection: Connection,
  secret: string | null,
  request: OutgoingRequest,
): Promise<AuthorizedRequest> {
  if (secret === null) return { ...request, secrets: [] }
  requireHeaderText(connection, secret)
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${secret}` }, secrets: [secret] }
}

function requireHeaderText(connection: Connection, secret: string): void {
  if (/^[\x20-\x7e]+$/.test(secret)) return
  throw badRequest(`the secret of connection '${connection.name}' contains characters that are not allowed in a header`)
}
