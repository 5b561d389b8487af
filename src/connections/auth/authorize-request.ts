import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Connection } from '../connection/rows.ts'
import { canRenewToken } from './access-token.ts'
import { type AuthConfig, parseAuthConfig } from './auth-config.ts'
import { addBasicAuth } from './basic.ts'
import { addBearerToken, addSecretHeader } from './header.ts'
import { addAccessToken } from './oauth2.ts'
import { addQueryParameter } from './query.ts'
import { signSigv4 } from './sigv4.ts'

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
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  request: OutgoingRequest,
): Promise<AuthorizedRequest> {
  const auth = parseAuthConfig(connection)
  // A public client of an OAuth provider has no secret of its own.
  if (auth.type === 'oauth2' || auth.type === 'mcp') {
    return addAccessToken(ctx, connection, clientSecret(auth, secret), request)
  }
  if (secret === null) return { ...request, secrets: [] }
  switch (auth.type) {
    case 'header':
      return addSecretHeader(connection, auth, secret, request)
    case 'basic':
      return addBasicAuth(auth, secret, request)
    case 'query':
      return addQueryParameter(auth, secret, request)
    case 'sigv4':
      return signSigv4(ctx, auth, secret, request)
    default:
      return addBearerToken(connection, secret, request)
  }
}

/**
 * The request with a new access token, after the server answered 401 to `refused`: nothing was done, so it may be sent
 * once more. Null for credentials that only a person can renew.
 */
export async function renewAuthorization(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  request: OutgoingRequest,
  refused: AuthorizedRequest,
): Promise<AuthorizedRequest | null> {
  const auth = parseAuthConfig(connection)
  if ((auth.type !== 'oauth2' && auth.type !== 'mcp') || !(await canRenewToken(ctx, connection))) return null
  const renewed = await addAccessToken(ctx, connection, clientSecret(auth, secret), request, refused.secrets)
  return { ...renewed, secrets: [...new Set([...refused.secrets, ...renewed.secrets])] }
}

/** A client that the service registered has its secret with its tokens, and never uses the connection's. */
export const clientSecret = (auth: AuthConfig, secret: string | null): string | null =>
  auth.type === 'mcp' && auth.client_id === undefined ? null : secret
