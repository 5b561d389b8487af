import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { onTestFinished } from 'vitest'

export const PUBLIC_URL = 'https://desk.example'
export const CLIENT_SECRET = 'client-5ecret-of-the-test-app-0123456789'

export interface AuthorizationServer {
  url: string
  /** `config.auth` of a connection that uses it. */
  auth: Record<string, unknown>
  /** The forms that were posted to the token endpoint. */
  tokenRequests: URLSearchParams[]
  /** The bodies of the token endpoint's answers. */
  issued: Record<string, string>[]
  /** Opens the URL like a browser, signs in and consents; returns the query with which the provider calls back. */
  consent(authorizeUrl: string): Promise<URLSearchParams>
  revoke(refreshToken: string): Promise<void>
}

/** A real OAuth 2 server: PKCE is required, refresh tokens rotate, access tokens live for an hour. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const tokenRequests: URLSearchParams[] = []
  const issued: Record<string, string>[] = []
  const server = createServer((request, response) => {
    void handle(request, (body) => {
      if (request.url === '/token') {
        tokenRequests.push(new URLSearchParams(body))
        const end = response.end.bind(response)
        response.end = ((chunk?: unknown, ...rest: never[]) => {
          if (chunk !== undefined) issued.push(JSON.parse(String(chunk)))
          return end(chunk as never, ...rest)
        }) as typeof response.end
      }
      provider.callback()(Object.assign(request, { body: parseForm(body) }), response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, providerSettings())
  const auth = {
    type: 'oauth2',
    grant: 'authorization_code',
    authorize_url: `${url}/auth?prompt=consent`,
    token_url: `${url}/token`,
    client_id: 'desk',
    scopes: ['openid', 'offline_access'],
  }
  return { url, auth, tokenRequests, issued, consent, revoke: (token) => revoke(url, token) }
}

async function handle(request: IncomingMessage, next: (body: string) => void): Promise<void> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  next(body)
}

/** The provider takes a body that was parsed before it. */
const parseForm = (body: string) => (body === '' ? undefined : Object.fromEntries(new URLSearchParams(body)))

function providerSettings(): Record<string, unknown> {
  return {
    clients: [
      {
        client_id: 'desk',
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${PUBLIC_URL}/v1/oauth/callback`],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      revocation: { enabled: true },
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: { AccessToken: 3600, ClientCredentials: 3600 },
    cookies: { keys: ['test'] },
  }
}

/** Follows redirects with a cookie jar and submits each form, until the provider redirects to the service. */
async function consent(authorizeUrl: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>()
  let url = new URL(authorizeUrl)
  let form: URLSearchParams | null = null
  for (let step = 0; step < 20; step++) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    form = null
    if (location) {
      url = new URL(location, url)
      if (url.href.startsWith(PUBLIC_URL)) return url.searchParams
    } else {
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1]
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (!action || !prompt) throw new Error(`the provider shows no form: ${response.status} ${page.slice(0, 2000)}`)
      url = new URL(action, url)
      form = new URLSearchParams({ prompt, login: 'ann', password: 'x' })
    }
  }
  throw new Error('the provider did not redirect to the service')
}

async function revoke(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/token/revocation`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`desk:${CLIENT_SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ token, token_type_hint: 'refresh_token' }),
  })
  if (response.status !== 200) throw new Error(`not revoked: ${response.status}`)
}
