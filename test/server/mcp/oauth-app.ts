import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import * as o from 'oauth4webapi'
import { expect } from 'vitest'
import type { TestApp } from '../../app.ts'

type CalledApp = Pick<TestApp, 'url' | 'call'>

/** The address of the service as apps see it. */
export const PUBLIC_URL = 'https://work.example'
export const REDIRECT_URI = 'https://assistant.example/callback'

/** The libraries may pass a body that is undefined. */
type FetchOptions = Omit<RequestInit, 'body'> & { body?: RequestInit['body'] | undefined }

/** Sends requests to the public address to the test app, as a proxy would. */
export const publicFetch =
  (app: Pick<TestApp, 'url'>) =>
  (url: string | URL, { body, ...init }: FetchOptions = {}): Promise<Response> =>
    fetch(String(url).replace(PUBLIC_URL, app.url), { ...init, ...(body != null && { body }) })

/** What the consent page does when the member accepts. Returns the URL to which the browser is sent. */
export async function consent(
  app: CalledApp,
  session: string,
  authorisationUrl: URL,
  { role = 'operator', project }: { role?: string; project?: string } = {},
): Promise<URL> {
  const request = Object.fromEntries(authorisationUrl.searchParams)
  const { projects } = (await app.call('GET', '/v1/auth/session', undefined, { key: session })).body
  const body = { ...request, project_id: project ?? projects.at(-1).id, role }
  const accepted = await app.call('POST', '/v1/mcp-authorisations', body, { key: session })
  expect(accepted.status).toBe(200)
  return new URL(accepted.body.redirect_to)
}

/** An app that is judged by oauth4webapi: it discovers the service, registers itself and gets tokens. */
export async function connectApp(app: CalledApp, session: string, options: { role?: string; project?: string } = {}) {
  const access = await requestAccess(app, session, options)
  return { ...access, tokens: await access.exchange() }
}

/** The same app before it exchanges its code. */
export async function requestAccess(
  app: CalledApp,
  session: string,
  options: { role?: string; project?: string } = {},
) {
  const server = await discover(app)
  const { client } = await register(app, server)
  const verifier = o.generateRandomCodeVerifier()
  const state = o.generateRandomState()
  const url = new URL(server.authorization_endpoint ?? '')
  for (const [name, value] of Object.entries({
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    code_challenge: await o.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: `${PUBLIC_URL}/mcp`,
    state,
  }))
    url.searchParams.set(name, value)
  const redirected = await consent(app, session, url, options)
  const code = o.validateAuthResponse(server, client, redirected, state)
  const exchange = async () => {
    const sent = await o.authorizationCodeGrantRequest(server, client, o.None(), code, REDIRECT_URI, verifier, {
      [o.customFetch]: publicFetch(app),
      additionalParameters: { resource: `${PUBLIC_URL}/mcp` },
    })
    return o.processAuthorizationCodeResponse(server, client, sent)
  }
  const refresh = async (token: string) => {
    const sent = await o.refreshTokenGrantRequest(server, client, o.None(), token, {
      [o.customFetch]: publicFetch(app),
    })
    return o.processRefreshTokenResponse(server, client, sent)
  }
  return { server, client, code: code.get('code') ?? '', verifier, exchange, refresh }
}

export async function discover(app: CalledApp): Promise<o.AuthorizationServer> {
  const options = { [o.customFetch]: publicFetch(app) }
  const resource = new URL(`${PUBLIC_URL}/mcp`)
  const described = await o.processResourceDiscoveryResponse(
    resource,
    await o.resourceDiscoveryRequest(resource, options),
  )
  const issuer = new URL(described.authorization_servers?.[0] ?? '')
  const found = await o.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' })
  return o.processDiscoveryResponse(issuer, found)
}

async function register(app: CalledApp, server: o.AuthorizationServer) {
  const metadata = { client_name: 'Assistant', redirect_uris: [REDIRECT_URI] }
  const sent = await o.dynamicClientRegistrationRequest(server, metadata, { [o.customFetch]: publicFetch(app) })
  const client = (await o.processDynamicClientRegistrationResponse(sent)) as o.Client
  return { client }
}

/** Keeps everything in memory, as an app that was just added does. */
export function memoryProvider(redirectUri: string, open: (url: URL) => void): OAuthClientProvider {
  let information: ReturnType<OAuthClientProvider['clientInformation']>
  let tokens: ReturnType<OAuthClientProvider['tokens']>
  let verifier = ''
  return {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'Assistant', redirect_uris: [redirectUri] },
    clientInformation: () => information,
    saveClientInformation: (saved) => void (information = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => open(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
  }
}
