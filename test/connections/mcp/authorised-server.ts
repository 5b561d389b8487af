import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type ReceivedRequest, respondJson } from '../../fake-upstream.ts'
import { openMcpServer, type TestMcpServer } from './mcp-server.ts'

/** An MCP server that is its own authorization server. */
export interface AuthorisedServer extends TestMcpServer {
  /** The tokens that the server accepts now. */
  valid: Set<string>
  /** The bodies of the requests for registrations and tokens. */
  registrations: Record<string, unknown>[]
  tokenRequests: Record<string, string>[]
  metadata: Record<string, unknown>
  resourceMetadata: Record<string, unknown>
  /** What `/register` adds to its answer. */
  registered: Record<string, unknown>
}

export const CLIENT_CANARY = 'registered-client-5ecret'
export const ACCESS_CANARY = 'access-t0ken-canary'
export const REFRESH_CANARY = 'refresh-t0ken-canary'

export async function openAuthorisedServer(): Promise<AuthorisedServer> {
  const mcp = await openMcpServer()
  const { url: origin } = mcp.upstream
  const server: AuthorisedServer = Object.assign(mcp, {
    valid: new Set<string>(),
    registrations: [],
    tokenRequests: [],
    registered: { client_secret: CLIENT_CANARY, token_endpoint_auth_method: 'client_secret_basic' },
    resourceMetadata: { resource: mcp.url, authorization_servers: [origin], scopes_supported: ['notes'] },
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    },
  })
  server.intercept = (received, response) => respondAsProvider(server, received, response)
  return server
}

function respondAsProvider(server: AuthorisedServer, received: ReceivedRequest, response: ServerResponse): boolean {
  const { url, headers, body } = received
  if (url === '/.well-known/oauth-protected-resource/mcp') respondJson(response, 200, server.resourceMetadata)
  else if (url === '/.well-known/oauth-authorization-server') respondJson(response, 200, server.metadata)
  else if (url === '/register') {
    const asked = JSON.parse(body)
    server.registrations.push(asked)
    respondJson(response, 201, { ...asked, client_id: 'registered', ...server.registered })
  } else if (url === '/token') {
    server.tokenRequests.push(Object.fromEntries(new URLSearchParams(body)))
    const n = server.tokenRequests.length
    server.valid = new Set([`${ACCESS_CANARY}-${n}`])
    const tokens = { access_token: `${ACCESS_CANARY}-${n}`, refresh_token: `${REFRESH_CANARY}-${n}`, expires_in: 3600 }
    respondJson(response, 200, { ...tokens, token_type: 'bearer' })
  } else if (url !== '/mcp') response.writeHead(404).end()
  else if (server.valid.has(headers.authorization?.replace('Bearer ', '') ?? '')) return false
  else {
    const challenge = `Bearer resource_metadata="${server.upstream.url}/.well-known/oauth-protected-resource/mcp"`
    response.writeHead(401, { 'www-authenticate': challenge }).end()
  }
  return true
}

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
