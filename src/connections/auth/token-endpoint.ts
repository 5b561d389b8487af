import type { ClientAuth } from 'oauth4webapi'
import { isJsonObject, type JsonObject } from '../../platform/base/json.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import { isListedHost } from '../../platform/egress/address-rules.ts'
import { createGuardedFetch } from '../../platform/egress/guarded-fetch.ts'
import { allowedHostsOf, EgressError } from '../../platform/egress/http-client.ts'
import type { OauthTokens, TokenEndpoint } from './token-store.ts'

/** The request for tokens failed, so no request of the connection was sent. The message contains no secret. */
export class TokenRequestFailed extends SecretUnavailable {
  /** The provider does not accept the refresh token any more: a person has to authorise again. */
  readonly isRevoked: boolean
  constructor(message: string, isRevoked = false) {
    super(message)
    this.isRevoked = isRevoked
  }
}

export type TokenGrant =
  | { kind: 'code'; parameters: URLSearchParams; state: string; redirectUri: string; verifier: string }
  | { kind: 'refresh'; refreshToken: string }
  | { kind: 'client_credentials'; scopes: readonly string[] }

/** Requests tokens from the provider. Every failure is a `TokenRequestFailed`. */
export async function requestTokens(
  ctx: Ctx,
  endpoint: TokenEndpoint,
  secret: string | null,
  grant: TokenGrant,
): Promise<OauthTokens> {
  try {
    const answer = await sendGrant(ctx, endpoint, endpoint.client_secret ?? secret, grant)
    // A provider that does not rotate refresh tokens sends none: the old one stays valid.
    const previous = grant.kind === 'refresh' ? grant.refreshToken : null
    return {
      access_token: answer.access_token,
      refresh_token: answer.refresh_token ?? previous,
      expires_at: answer.expires_in === undefined ? null : lastUse(ctx.world.clock.now(), answer.expires_in),
    }
  } catch (error) {
    throw toFailure(error, grant)
  }
}

/** Half a minute before the token expires, so that it does not expire on its way; for short lifetimes half of them. */
function lastUse(now: number, expiresInSeconds: number): string {
  const seconds = Math.max(expiresInSeconds - 30, expiresInSeconds / 2)
  return toIsoTime(now + Math.floor(Math.min(seconds, MAX_LIFETIME_S) * 1000))
}

const MAX_LIFETIME_S = 10 * 365 * 24 * 3600

async function sendGrant(ctx: Ctx, endpoint: TokenEndpoint, secret: string | null, grant: TokenGrant) {
  const oauth = await import('oauth4webapi')
  const server = { issuer: endpoint.issuer ?? new URL(endpoint.token_url).origin, token_endpoint: endpoint.token_url }
  const client = { client_id: endpoint.client_id }
  const clientAuth =
    secret === null
      ? oauth.None()
      : endpoint.client_auth === 'post'
        ? oauth.ClientSecretPost(secret)
        : basicClientAuth(secret)
  const options = {
    [oauth.customFetch]: createTokenFetch(ctx),
    [oauth.allowInsecureRequests]: isPlainHttpAllowed(ctx, endpoint.token_url),
    ...(endpoint.resource !== undefined && { additionalParameters: { resource: endpoint.resource } }),
  }
  if (grant.kind === 'refresh') {
    const answer = await oauth.refreshTokenGrantRequest(server, client, clientAuth, grant.refreshToken, options)
    return oauth.processRefreshTokenResponse(server, client, answer)
  }
  if (grant.kind === 'client_credentials') {
    const scope = grant.scopes.join(' ')
    const parameters = { ...(scope !== '' && { scope }), ...options.additionalParameters }
    const answer = await oauth.clientCredentialsGrantRequest(server, client, clientAuth, parameters, options)
    return oauth.processClientCredentialsResponse(server, client, answer)
  }
  const { parameters, state, redirectUri, verifier } = grant
  // Without a configured issuer there is nothing that `iss` could be compared with.
  if (endpoint.issuer === undefined) parameters.delete('iss')
  const valid = oauth.validateAuthResponse(server, client, parameters, state)
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    clientAuth,
    valid,
    redirectUri,
    verifier,
    options,
  )
  return oauth.processAuthorizationCodeResponse(server, client, answer)
}

/**
 * HTTP Basic with the encoding of RFC 6749, but only of characters that need it: the library also encodes `-` and `_`, and
 * providers that do not decode would refuse most secrets.
 */
const basicClientAuth =
  (secret: string): ClientAuth =>
  (_server, { client_id }, _body, headers) => {
    const credentials = Buffer.from(`${encodeFormText(client_id)}:${encodeFormText(secret)}`).toString('base64')
    headers.set('authorization', `Basic ${credentials}`)
  }

const encodeFormText = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+')

/** Unencrypted only to a host that the operator has listed in SVC_EGRESS_ALLOW. */
function isPlainHttpAllowed({ config }: Ctx, tokenUrl: string): boolean {
  const url = new URL(tokenUrl)
  return (
    url.protocol === 'http:' &&
    isListedHost(allowedHostsOf(config.egressAllow, url), url.hostname.replaceAll(/[[\]]/g, ''))
  )
}

/** Names what is wrong with an answer before the library reads it, and passes on only the fields that are used. */
function createTokenFetch(ctx: Ctx): typeof fetch {
  const guarded = createGuardedFetch(ctx)
  return async (input, init) => {
    const answer = await guarded(input, init)
    if (answer.status >= 300 && answer.status < 400) {
      throw new TokenRequestFailed('the token endpoint answered with a redirect, which is not followed')
    }
    if (answer.status >= 500) throw new TokenRequestFailed(`the token endpoint answered ${answer.status}`)
    const body = parseObject(await answer.text())
    if (!body) throw new TokenRequestFailed(`the token endpoint answered ${answer.status} without a JSON object`)
    // Some providers report an error with status 200.
    const status = answer.ok && typeof body.access_token !== 'string' ? 400 : answer.status
    return Response.json(status === 200 ? tokenFields(body) : errorFields(body), { status })
  }
}

function parseObject(text: string): JsonObject | null {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) ? body : null
  } catch {
    return null
  }
}

/** Some providers leave out the token type or name their own; an id token is not used, so it is not checked. */
function tokenFields({ access_token, refresh_token, expires_in }: JsonObject): JsonObject {
  const lifetime = Number(expires_in ?? Number.NaN)
  return {
    access_token: access_token ?? null,
    token_type: 'bearer',
    ...(typeof refresh_token === 'string' && refresh_token !== '' && { refresh_token }),
    ...(lifetime > 0 && { expires_in: lifetime }),
  }
}

/** The text of an error could contain what was sent, so only the codes of the standards are shown. */
const ERROR_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'temporarily_unavailable',
]

function errorFields({ error }: JsonObject): JsonObject {
  const code = ERROR_CODES.find((one) => one === error)
  return { error: code ?? 'unknown_error' }
}

function toFailure(error: unknown, grant: TokenGrant): TokenRequestFailed {
  if (error instanceof TokenRequestFailed) return error
  if (error instanceof EgressError) return new TokenRequestFailed(`the token endpoint cannot be used: ${error.message}`)
  const code = error instanceof Error && 'error' in error && typeof error.error === 'string' ? error.error : null
  if (code === 'invalid_grant' && grant.kind === 'refresh') {
    return new TokenRequestFailed('the provider has ended the authorisation: connect the account again', true)
  }
  if (code !== null && ERROR_CODES.includes(code)) {
    return new TokenRequestFailed(`the token endpoint refused the request: ${code}`)
  }
  if (error instanceof Error && 'code' in error && error.code === 'OAUTH_HTTP_REQUEST_FORBIDDEN') {
    return new TokenRequestFailed('the token endpoint is not https: set config.auth.token_url to an https url')
  }
  return new TokenRequestFailed('the token endpoint gave an answer that cannot be used')
}
