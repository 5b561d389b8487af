import { createHash } from 'node:crypto'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { newToken, tokenHash } from '../../platform/base/tokens.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'
import { type Ctx, inDurableTx, inTx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { type SecretEnvelope, SecretUnavailable } from '../../platform/ctx/vault.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import type { OauthFlowRow } from '../../platform/store/tables.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { recordConnectionHealth } from '../connection/health.ts'
import { type Connection, findConnection } from '../connection/rows.ts'
import { parseAuthConfig } from './auth-config.ts'
import { clientSecret } from './authorize-request.ts'
import { takeOauthFlow, upsertOauthFlow } from './oauth-rows.ts'
import { findIssuerProblem } from './pinned-issuer.ts'
import { requestTokens } from './token-endpoint.ts'
import { saveTokensInTx, type TokenEndpoint } from './token-store.ts'

const FLOW_LIFETIME_MS = 10 * 60_000

/** An authorisation to start at a provider. */
export interface OauthFlow {
  authorizeUrl: string
  scopes: readonly string[]
  endpoint: TokenEndpoint
  /** True if `config.auth` does not contain the endpoint, so that it has to be stored with the tokens. */
  isDiscovered: boolean
  /** The path of this service that the browser is sent to afterwards. */
  returnTo: string
  /**
   * True: only the browser that started the flow can finish it; it shows the state as a cookie. Otherwise a client could
   * give the link to another person, whose account would then be connected to the client.
   */
  isBrowserBound?: boolean
}

/** The flow of a connection whose `config.auth` is OAuth 2 with an authorization code; else a 400. */
export function configuredFlow(connection: Connection, returnTo: string): OauthFlow {
  const auth = parseAuthConfig(connection)
  if (auth.type !== 'oauth2' || auth.grant !== 'authorization_code') {
    throw badRequest(`connection '${connection.name}' does not use OAuth 2 with the grant authorization_code`)
  }
  const { token_url, client_id, client_auth, issuer } = auth
  const endpoint = { token_url, client_id, client_auth, issuer }
  return { authorizeUrl: auth.authorize_url, scopes: auth.scopes, endpoint, isDiscovered: false, returnTo }
}

/** Starts the authorization code flow with PKCE, and returns the URL that the person opens. */
export async function startOauthFlow(ctx: Ctx, actor: Actor, connection: Connection, flow: OauthFlow): Promise<string> {
  const redirectUri = oauthRedirectUri(ctx)
  requireOwnPath(flow.returnTo)
  const state = newToken('oauthState', ctx.world.random)
  const verifier = Buffer.from(ctx.world.random(32)).toString('base64url')
  const { endpoint, isDiscovered, scopes, returnTo: return_to } = flow
  const state_hash = tokenHash(state)
  const sealed: SealedFlow = { verifier, endpoint, isDiscovered, isBrowserBound: flow.isBrowserBound ?? false }
  const envelope = JSON.stringify(ctx.vault.seal(JSON.stringify(sealed), flowLocation(connection, state_hash)))
  const expires_at = toIsoTime(ctx.world.clock.now() + FLOW_LIFETIME_MS)
  const { id: connection_id, project_id } = connection
  await inTx(ctx, async (tx) => {
    const row = { connection_id, project_id, state_hash, envelope, return_to, actor: JSON.stringify(actor), expires_at }
    await upsertOauthFlow(tx.db, row)
    await appendAuditEntry(tx, project_id, actor, 'connection.authorising', connection_id, { name: connection.name })
  })
  const url = new URL(flow.authorizeUrl)
  const parameters = {
    response_type: 'code',
    client_id: endpoint.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(endpoint.resource !== undefined && { resource: endpoint.resource }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The address that the app at the provider must allow. */
export function oauthRedirectUri({ config: { publicUrl } }: Ctx): string {
  if (publicUrl === null) {
    throw badRequest(
      'set SVC_PUBLIC_URL first: the provider sends the browser back to SVC_PUBLIC_URL/v1/oauth/callback',
    )
  }
  return `${removeTrailingSlashes(publicUrl)}/v1/oauth/callback`
}

/** A path of this service. Everything that a browser could take for another host is a 400. */
function requireOwnPath(path: string): void {
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/.test(path) && !path.includes('\\') && path.length <= 2048
  const base = 'http://own.invalid'
  const url = isPath && URL.canParse(path, base) ? new URL(path, base) : null
  // Dot segments such as `/.//host` become `//host`.
  if (url?.origin === base && !url.pathname.startsWith('//')) return
  throw badRequest("field 'return_to' must be a path of this service, such as /connections")
}

interface SealedFlow {
  verifier: string
  endpoint: TokenEndpoint
  isDiscovered: boolean
  isBrowserBound: boolean
}

const flowLocation = ({ id, project_id }: Pick<Connection, 'id' | 'project_id'>, stateHash: string) => ({
  projectId: project_id,
  key: stateHash,
  connectionId: id,
  kind: 'oauth_flow',
})

/** `returnTo` is null if the state is unknown: the callback then belongs to no connection. */
export interface FinishedFlow {
  returnTo: string | null
  /** A code in small letters; null: the connection is authorised. */
  error: string | null
}

/** Exchanges the code of a callback for tokens, and stores them. `cookieState` is what the browser shows as a cookie. */
export async function finishOauthFlow(
  ctx: Ctx,
  parameters: URLSearchParams,
  cookieState: string | null,
): Promise<FinishedFlow> {
  const state = parameters.get('state') ?? ''
  const row = await inTx(ctx, (tx) => takeOauthFlow(tx.db, tokenHash(state)))
  if (!row) return { returnTo: null, error: 'unknown_state' }
  const connection = await findConnection(ctx.db, row.connection_id)
  if (!connection || row.expires_at <= isoNow(ctx)) return { returnTo: row.return_to, error: 'expired' }
  if (parameters.has('error')) return { returnTo: row.return_to, error: denialCode(parameters.get('error')) }
  try {
    const flow = openFlow(ctx, connection, row)
    if (flow.isBrowserBound && cookieState !== state) return { returnTo: row.return_to, error: 'other_browser' }
    await exchangeCode(ctx, connection, { ...flow, actor: JSON.parse(row.actor), parameters, state })
    return { returnTo: row.return_to, error: null }
  } catch (error) {
    if (!(error instanceof SecretUnavailable)) throw error
    await recordConnectionHealth(ctx, connection, error.message)
    return { returnTo: row.return_to, error: 'exchange_failed' }
  }
}

/** Only codes of the standard, because anybody can open the callback with any text. */
const denialCode = (error: string | null): string =>
  ['access_denied', 'invalid_scope', 'server_error', 'temporarily_unavailable'].find((code) => code === error) ??
  'authorisation_failed'

function openFlow(ctx: Ctx, connection: Connection, row: OauthFlowRow): SealedFlow {
  const envelope: SecretEnvelope = JSON.parse(row.envelope)
  return JSON.parse(ctx.vault.open(envelope, flowLocation(connection, row.state_hash)))
}

interface CodeExchange extends SealedFlow {
  actor: Actor
  parameters: URLSearchParams
  state: string
}

async function exchangeCode(
  ctx: Ctx,
  connection: Connection,
  { endpoint, isDiscovered, verifier, actor, parameters, state }: CodeExchange,
): Promise<void> {
  const problem = findIssuerProblem(connection, endpoint.issuer)
  if (problem !== null) throw new SecretUnavailable(problem)
  const grant = { kind: 'code', parameters, state, redirectUri: oauthRedirectUri(ctx), verifier } as const
  const secret = clientSecret(parseAuthConfig(connection), await openSecret(ctx, connection))
  const tokens = await requestTokens(ctx, endpoint, secret, grant)
  const { id, project_id, name } = connection
  await inDurableTx(ctx, async (tx) => {
    await saveTokensInTx(tx, connection, isDiscovered ? { ...tokens, endpoint } : tokens)
    await appendAuditEntry(tx, project_id, actor, 'connection.connected', id, { name })
  })
}
