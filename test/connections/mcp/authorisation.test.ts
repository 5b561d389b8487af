import { describe, expect, test } from 'vitest'
import { anyStore, testApp, type TestApp } from '../../app.ts'
import { GATED_ENV } from '../../approvals/decisions/gated-app.ts'
import type { StoreKind } from '../../stores.ts'
import {
  ACCESS_CANARY,
  type AuthorisedServer,
  challengeOf,
  CLIENT_CANARY,
  openAuthorisedServer,
  REFRESH_CANARY,
} from './authorised-server.ts'
import { MCP_WEDGE, startCall } from './mcp-app.ts'

const ENV = { ...GATED_ENV, SVC_PUBLIC_URL: 'https://desk.example' }

async function register(app: TestApp, { url }: AuthorisedServer, auth: object = {}, more: object = {}) {
  const config = { url, auth: { type: 'mcp', ...auth } }
  const { status, body } = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config, ...more })
  expect(status, JSON.stringify(body)).toBe(201)
  return `/v1/connections/${body.id}`
}

/** Authorises the connection as a person would in a browser, and returns the parameters of the authorisation page. */
async function authorise(app: TestApp, path: string): Promise<Record<string, string>> {
  const { status, body } = await app.call('POST', `${path}/oauth/start`, {})
  expect(status, JSON.stringify(body)).toBe(200)
  const asked = Object.fromEntries(new URL(body.authorize_url).searchParams)
  const query = new URLSearchParams({ state: asked.state ?? '', code: 'code-1' })
  const back = await fetch(`${app.url}/v1/oauth/callback?${query.toString()}`, { redirect: 'manual' })
  expect(back.headers.get('location')).toBe('https://desk.example/connections?oauth=connected')
  return asked
}

async function open(store: StoreKind) {
  const server = await openAuthorisedServer()
  const app = await testApp({ store, wedges: MCP_WEDGE, env: ENV })
  return { server, app }
}

anyStore((store) => {
  test('the server is discovered, the service registers itself, and the tokens are for this server only', async () => {
    const { server, app } = await open(store)
    const path = await register(app, server)
    expect((await app.call('GET', path)).body.status).toBe('needs_authorisation')
    const asked = await authorise(app, path)
    expect(asked).toMatchObject({
      client_id: 'registered',
      resource: server.url,
      scope: 'notes',
      redirect_uri: 'https://desk.example/v1/oauth/callback',
      code_challenge_method: 'S256',
    })
    expect(server.registrations).toMatchObject([{ redirect_uris: ['https://desk.example/v1/oauth/callback'] }])
    const [exchange] = server.tokenRequests
    expect(exchange).toMatchObject({ grant_type: 'authorization_code', code: 'code-1', resource: server.url })
    expect(challengeOf(exchange?.code_verifier ?? '')).toBe(asked.code_challenge)
    const token = server.upstream.received.find(({ url }) => url === '/token')
    const basic = Buffer.from(token?.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    expect(decodeURIComponent(basic)).toBe(`registered:${CLIENT_CANARY}`)

    expect((await app.call('POST', `${path}/tools/refresh`)).body.data).toMatchObject([{ name: 'echo' }])
    await app.call('PUT', `${path}/tools/echo`, { class: 'read' })
    const { id } = await startCall(app, 'read')
    expect(await app.finished(id)).toMatchObject({ output: { ok: true } })
    expect(server.tokenRequests).toHaveLength(1)
  })

  test('a refused token is refreshed once with the registered client', async () => {
    const { server, app } = await open(store)
    const path = await register(app, server)
    await authorise(app, path)
    server.valid.clear()
    expect((await app.call('POST', `${path}/tools/refresh`)).status).toBe(200)
    expect(server.tokenRequests).toHaveLength(2)
    expect(server.tokenRequests[1]).toMatchObject({
      grant_type: 'refresh_token',
      refresh_token: `${REFRESH_CANARY}-1`,
      resource: server.url,
    })
  })

  test('tokens and the registered secret are in no row, log or answer', async () => {
    const { server, app } = await open(store)
    const path = await register(app, server)
    await authorise(app, path)
    server.onCall = ({ answer, received }) => answer(`you sent ${received.headers.authorization}`)
    await app.call('POST', `${path}/tools/refresh`)
    await app.call('PUT', `${path}/tools/echo`, { class: 'read' })
    const { id } = await startCall(app, 'read')
    expect(await app.finished(id)).toMatchObject({ output: { body: 'you sent Bearer [secret]' } })
    const seen = JSON.stringify([
      app.logged,
      await app.events(id),
      (await app.call('GET', path)).body,
      (await app.call('GET', '/v1/audit?limit=200')).body,
      await app.ctx.db.selectFrom('vault').selectAll().execute(),
      await app.ctx.db.selectFrom('oauth_flows').selectAll().execute(),
    ])
    for (const secret of [ACCESS_CANARY, REFRESH_CANARY, CLIENT_CANARY]) expect(seen).not.toContain(secret)
  })
})

describe('the authorisation of an MCP server', () => {
  test('uses the client id of the config and the secret of the connection', async () => {
    const { server, app } = await open('sqlite')
    const issuer = server.upstream.url
    const path = await register(app, server, { client_id: 'mine', scopes: ['all'], issuer })
    await app.call('POST', `${path}/secret`, { value: 'my-client-secret' })
    expect(await authorise(app, path)).toMatchObject({ client_id: 'mine', scope: 'all' })
    expect(server.registrations).toEqual([])
    const token = server.upstream.received.find(({ url }) => url === '/token')
    const basic = Buffer.from(token?.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    expect(decodeURIComponent(basic)).toBe('mine:my-client-secret')
  })

  test('never sends the secret of the connection to a server that the MCP server names', async () => {
    const { server, app } = await open('sqlite')
    const path = await register(app, server)
    await app.call('POST', `${path}/secret`, { value: 'my-client-secret' })
    const { status, body } = await app.call('POST', `${path}/oauth/start`, {})
    expect({ status, body }).toMatchObject({ status: 400, body: { error: expect.stringContaining('client_id') } })
    expect(JSON.stringify(server.upstream.received)).not.toContain('my-client-secret')
  })

  test('with a client of its own, the connection must name the issuer before anything is sent there', async () => {
    const { server, app } = await open('sqlite')
    const path = await register(app, server, { client_id: 'mine' })
    await app.call('POST', `${path}/secret`, { value: 'my-client-secret' })
    const { status, body } = await app.call('POST', `${path}/oauth/start`, {})
    const named = `the MCP server names the issuer '${server.upstream.url}'`
    expect({ status, body }).toMatchObject({ status: 400, body: { error: expect.stringContaining(named) } })
    expect(server.tokenRequests).toEqual([])
  })

  test('stays at the issuer of the first authorisation until an admin changes the issuer', async () => {
    const { server, app } = await open('sqlite')
    const path = await register(app, server)
    await authorise(app, path)
    const issuer = server.upstream.url
    const { config } = (await app.call('GET', path)).body
    expect(config.auth).toEqual({ type: 'mcp', issuer })

    const other = await openAuthorisedServer()
    server.resourceMetadata.authorization_servers = [other.upstream.url]
    // A config without the issuer is the same connection.
    await app.call('PUT', path, { config: { url: server.url, auth: { type: 'mcp' } } })
    const refused = await app.call('POST', `${path}/oauth/start`, {})
    const both = `is authorised at the issuer '${issuer}', not at '${other.upstream.url}'`
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(both) } })
    expect(other.registrations).toEqual([])
    expect((await app.call('GET', path)).body).toMatchObject({ status: 'connected', config: { auth: { issuer } } })

    await app.call('PUT', path, { config: { ...config, auth: { type: 'mcp', issuer: other.upstream.url } } })
    expect((await app.call('GET', path)).body.status).toBe('needs_authorisation')
    await authorise(app, path)
    expect(other.tokenRequests).toHaveLength(1)
    await app.call('PUT', path, { config: { ...config, auth: { type: 'mcp', issuer: null } } })
    server.resourceMetadata.authorization_servers = [issuer]
    await authorise(app, path)
    expect((await app.call('GET', path)).body.config.auth.issuer).toBe(issuer)
  })

  test('sends neither a code nor a refresh token to an issuer that the config does not name', async () => {
    const { server, app } = await open('sqlite')
    const path = await register(app, server)
    const other = 'https://login.example'
    const both = `is authorised at the issuer '${other}', not at '${server.upstream.url}'`
    const change = { config: { url: server.url, auth: { type: 'mcp', issuer: other } } }
    const { body } = await app.call('POST', `${path}/oauth/start`, {})
    await app.call('PUT', path, change)
    const state = new URL(body.authorize_url).searchParams.get('state') ?? ''
    const back = `${app.url}/v1/oauth/callback?${new URLSearchParams({ state, code: 'code-1' }).toString()}`
    const { headers } = await fetch(back, { redirect: 'manual' })
    expect(headers.get('location')).toContain('oauth_error=exchange_failed')
    expect((await app.call('GET', path)).body.last_error).toContain(both)
    expect(server.tokenRequests).toEqual([])

    await app.call('PUT', path, { config: { url: server.url, auth: { type: 'mcp', issuer: null } } })
    await authorise(app, path)
    // A connection that was authorised before issuers were pinned.
    const config = JSON.stringify({ url: server.url, auth: { type: 'mcp' } })
    await app.ctx.db.updateTable('connections').set({ config }).execute()
    await app.call('PUT', path, change)
    server.valid.clear()
    const refused = await app.call('POST', `${path}/tools/refresh`)
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining(both) } })
    expect(server.tokenRequests).toHaveLength(1)

    await app.ctx.db.updateTable('connections').set({ config }).execute()
    expect((await app.call('POST', `${path}/tools/refresh`)).status).toBe(200)
    expect((await app.call('GET', path)).body.config.auth.issuer).toBe(server.upstream.url)
  })

  test.each([
    ['another resource', (s: AuthorisedServer) => (s.resourceMetadata.resource = 'https://other.example/mcp')],
    ['no PKCE', (s: AuthorisedServer) => delete s.metadata.code_challenge_methods_supported],
    [
      'a private authorization server',
      (s: AuthorisedServer) => (s.resourceMetadata.authorization_servers = ['http://10.0.0.1/']),
    ],
    ['another issuer', (s: AuthorisedServer) => (s.metadata.issuer = 'https://other.example')],
    ['a script as address', (s: AuthorisedServer) => (s.metadata.authorization_endpoint = 'javascript:alert(1)')],
  ])('is 502 for %s', async (_, change) => {
    const { server, app } = await open('sqlite')
    change(server)
    const path = await register(app, server)
    const { status, body } = await app.call('POST', `${path}/oauth/start`, {})
    expect({ status, body }).toMatchObject({
      status: 502,
      body: { error: expect.stringMatching(/^the MCP server cannot be authorised: /) },
    })
  })

  test('is separate for each owner', async () => {
    const { server, app } = await open('sqlite')
    const client = (await app.call('POST', '/v1/clients', { display_name: 'Ada' })).body.id
    const [own, founders] = [await register(app, server, {}, { client_id: client }), await register(app, server)]
    await authorise(app, own)
    expect((await app.call('GET', own)).body.status).toBe('connected')
    expect((await app.call('GET', founders)).body.status).toBe('needs_authorisation')
    const refreshed = await app.call('POST', `${founders}/tools/refresh`)
    expect(refreshed).toMatchObject({ status: 400, body: { error: expect.stringContaining('is not connected yet') } })
  })

  test('is only for MCP servers, and ends when the address changes', async () => {
    const { server, app } = await open('sqlite')
    const config = { api_url: server.url, auth: { type: 'mcp' } }
    expect((await app.call('POST', '/v1/connections', { kind: 'custom', name: 'x', config })).status).toBe(400)
    const path = await register(app, server)
    await authorise(app, path)
    await app.call('PUT', path, { config: { url: `${server.url}/other`, auth: { type: 'mcp' } } })
    expect((await app.call('GET', path)).body.status).toBe('needs_authorisation')
  })
})
