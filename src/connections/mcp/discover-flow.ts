import { badRequest, conflict, Problem } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { createGuardedFetch } from '../../platform/egress/guarded-fetch.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import { type AuthConfig, parseAuthConfig } from '../auth/auth-config.ts'
import { configuredFlow, type OauthFlow, oauthRedirectUri } from '../auth/oauth-flow.ts'
import { findIssuerProblem } from '../auth/pinned-issuer.ts'
import type { TokenEndpoint } from '../auth/token-store.ts'
import { requireConfigUrl } from '../calls/http-request.ts'
import type { Connection } from '../connection/rows.ts'

type McpAuth = Extract<AuthConfig, { type: 'mcp' }>
type Library = typeof import('./mcp-client.ts')
type ServerInfo = Awaited<ReturnType<Library['discoverOAuthServerInfo']>>
type ServerMetadata = NonNullable<ServerInfo['authorizationServerMetadata']>

/** The authorisation of a connection: as its server says or as its config says. */
export async function resolveOauthFlow(ctx: Ctx, connection: Connection, returnTo: string): Promise<OauthFlow> {
  const auth = parseAuthConfig(connection)
  return auth.type === 'mcp' ? discoverMcpFlow(ctx, connection, auth, returnTo) : configuredFlow(connection, returnTo)
}

/**
 * The flow of an MCP connection with `config.auth.type` `mcp`: the server names its authorization server (RFC 9728), which
 * describes itself (RFC 8414) and registers the service as a client (RFC 7591) unless the config has a client id. The
 * tokens are for this server only (RFC 8707).
 */
async function discoverMcpFlow(ctx: Ctx, connection: Connection, auth: McpAuth, returnTo: string): Promise<OauthFlow> {
  const url = new URL(requireConfigUrl(connection, 'url'))
  const redirectUri = oauthRedirectUri(ctx)
  // The secret belongs to a client of the admin's own, and must not go to a server that the MCP server names.
  if (auth.client_id === undefined && (await openSecret(ctx, connection)) !== null)
    throw badRequest("field 'config.auth.client_id' is required: the connection has a client secret")
  const fetchFn = createGuardedFetch(ctx)
  try {
    const library = await import('./mcp-client.ts')
    const challenge = await readChallenge(library, url, fetchFn)
    const { resourceMetadataUrl } = challenge
    const info = await library.discoverOAuthServerInfo(url, {
      fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    })
    const metadata = requireMetadata(info)
    requireKnownIssuer(connection, auth, metadata.issuer)
    const scopes = chooseScopes(auth, challenge.scope, info)
    const resource = chooseResource(library, url, info)
    const client = await chooseClient(library, auth, { info, metadata, redirectUri, scopes, fetchFn })
    const endpoint = { ...client, token_url: metadata.token_endpoint, issuer: metadata.issuer, resource }
    return { authorizeUrl: metadata.authorization_endpoint, scopes, endpoint, isDiscovered: true, returnTo }
  } catch (error) {
    if (error instanceof Problem && error.status < 500) throw error
    throw new Problem(502, `the MCP server cannot be authorised: ${describeFailure(error)}`)
  }
}

/** What the server says when it is called without a credential. */
async function readChallenge(library: Library, url: URL, fetchFn: typeof fetch) {
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  })
  return library.extractWWWAuthenticateParams(response)
}

function requireMetadata({ authorizationServerMetadata: metadata }: ServerInfo): ServerMetadata {
  if (!metadata) throw new Problem(502, 'its authorization server has no metadata')
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw new Problem(502, 'its authorization server does not support PKCE with S256')
  for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint])
    if (!/^https?:\/\//i.test(endpoint))
      throw new Problem(502, 'an address of its authorization server is not a web address')
  return metadata
}

/** The MCP server names the issuer, so a client of the admin's own is shown only to the issuer that the admin named. */
function requireKnownIssuer(connection: Connection, auth: McpAuth, issuer: string): void {
  const problem = findIssuerProblem(connection, issuer)
  if (problem !== null) throw conflict(problem)
  if (auth.client_id !== undefined && !auth.issuer)
    throw badRequest(
      `field 'config.auth.issuer' is required with a client_id: the MCP server names the issuer '${issuer}'. Set it if your client is registered there`,
    )
}

function chooseScopes(auth: McpAuth, asked: string | undefined, { resourceMetadata }: ServerInfo): string[] {
  if (auth.scopes.length > 0) return auth.scopes
  return asked?.split(' ').filter((scope) => scope !== '') ?? resourceMetadata?.scopes_supported ?? []
}

/** The resource that the server claims to be must be this server, else its tokens could be used elsewhere. */
function chooseResource(library: Library, url: URL, { resourceMetadata }: ServerInfo): string {
  const requestedResource = library.resourceUrlFromServerUrl(url)
  if (!resourceMetadata) return requestedResource.href
  const configuredResource = resourceMetadata.resource
  if (!library.checkResourceAllowed({ requestedResource, configuredResource }))
    throw new Problem(502, 'its metadata names another resource')
  return configuredResource
}

interface Registration {
  info: ServerInfo
  metadata: ServerMetadata
  redirectUri: string
  scopes: string[]
  fetchFn: typeof fetch
}

type OauthClient = Pick<TokenEndpoint, 'client_id' | 'client_auth' | 'client_secret'>

async function chooseClient(
  library: Library,
  { client_id }: McpAuth,
  { info, metadata, redirectUri, scopes, fetchFn }: Registration,
): Promise<OauthClient> {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const method = methods.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
  const client_auth = method === 'client_secret_basic' ? 'basic' : 'post'
  if (client_id !== undefined) return { client_id, client_auth }
  if (metadata.registration_endpoint === undefined)
    throw badRequest("field 'config.auth.client_id' is required: the authorization server registers no clients")
  const registered = await library.registerClient(info.authorizationServerUrl, {
    metadata,
    clientMetadata: {
      client_name: 'Agent Work Service',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: methods.includes('none') ? 'none' : method,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    },
    fetchFn,
  })
  const isPost = registered.token_endpoint_auth_method === 'client_secret_post'
  return {
    client_id: registered.client_id,
    client_auth: registered.token_endpoint_auth_method === undefined ? client_auth : isPost ? 'post' : 'basic',
    ...(registered.client_secret !== undefined && { client_secret: registered.client_secret }),
  }
}

/** Errors of the client package may quote the servers, so only our own sentences are shown. */
function describeFailure(error: unknown): string {
  if (error instanceof Problem || error instanceof EgressError) return error.message
  return 'it or its authorization server gave an answer that cannot be used'
}
