import { describe, expect, test } from 'vitest'
import { sendAction } from '../../../src/connections/actions/send-action.ts'
import { rotateSecretKey } from '../../../src/identity/vault/rotate-key.ts'
import { createVault } from '../../../src/identity/vault/vault.ts'
import { sharedApp, type TestApp } from '../../app.ts'
import { anyStore, eachStore } from '../../stores.ts'
import { openUpstreamServer } from '../test-context.ts'
import { PUBLIC_URL, startAuthorizationServer } from './authorization-server.ts'
import {
  ACTION,
  auditedActions,
  callBack,
  createAuthorisedConnection,
  createOauthConnection,
  getConnection,
  getHealth,
  MINUTE,
  SECRET_KEY,
  startFlow,
  startOauthApp,
  storedTokens,
} from './oauth-app.ts'

/** A provider that no test asks for a token. */
const AUTH = {
  type: 'oauth2',
  grant: 'authorization_code',
  authorize_url: 'https://provider.test/authorize?audience=x',
  token_url: 'https://provider.test/token',
  client_id: 'desk',
  scopes: ['read', 'write'],
}

const stateOf = (url: string) => new URL(url).searchParams.get('state') ?? ''

anyStore((store) => {
  test('a person authorises a connection, its requests carry the access token, and an expired one is refreshed once', async () => {
    const provider = await startAuthorizationServer()
    const app = await startOauthApp(store)
    const { api, id } = await createOauthConnection(app, provider.auth)
    expect(await getConnection(app, id)).toMatchObject({ status: 'needs_authorisation', has_secret: true })
    expect(await getHealth(app, id)).toEqual({
      status: 'not_connected',
      checked_at: null,
      message: 'the connection is not authorised yet: connect the account',
    })
    const url = await startFlow(app, id, { return_to: '/connections?tab=1' })
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      prompt: 'consent',
      response_type: 'code',
      client_id: 'desk',
      redirect_uri: `${PUBLIC_URL}/v1/oauth/callback`,
      scope: 'openid offline_access',
      code_challenge_method: 'S256',
    })
    const back = await callBack(app, await provider.consent(url))
    expect(back.status).toBe(303)
    expect(Object.fromEntries(back.headers)).toMatchObject({
      location: `${PUBLIC_URL}/connections?tab=1&oauth=connected`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(await getConnection(app, id)).toMatchObject({ status: 'connected' })
    expect(await getHealth(app, id)).toEqual({ status: 'ok', checked_at: null, message: null })
    const actions = await auditedActions(app)
    expect(actions.slice(-2)).toEqual(['connection.authorising', 'connection.connected'])

    expect((await app.call('POST', `/v1/connections/${id}/test`)).body).toMatchObject({ ok: true })
    expect(api.received.at(-1)?.headers.authorization).toBe(`Bearer ${provider.issued[0]?.access_token}`)
    app.clock.set(app.clock.now() + 61 * MINUTE)
    for (let call = 0; call < 2; call++) {
      expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'ok' })
      expect(api.received.at(-1)?.headers.authorization).toBe(`Bearer ${provider.issued[1]?.access_token}`)
    }
    const grants = provider.tokenRequests.map((form) => form.get('grant_type'))
    expect(grants).toEqual(['authorization_code', 'refresh_token'])
    expect(provider.issued[1]?.refresh_token).not.toBe(provider.issued[0]?.refresh_token)
    expect(await storedTokens(app.ctx, id)).toMatchObject({ refresh_token: provider.issued[1]?.refresh_token })
  })

  test('tokens are deleted with the connection and with a change of the app, and survive other changes and a key rotation', async () => {
    const provider = await startAuthorizationServer()
    const app = await startOauthApp(store)
    const { id } = await createAuthorisedConnection(app, provider)
    const { config } = await getConnection(app, id)
    const change = (auth: object) => app.call('PUT', `/v1/connections/${id}`, { config: { ...config, auth } })
    await change({ ...provider.auth, scopes: ['openid'] })
    expect(await getConnection(app, id)).toMatchObject({ status: 'connected' })

    const rotated = { ...app.ctx, vault: createVault(Buffer.alloc(32, 2)) }
    expect(await rotateSecretKey(rotated, SECRET_KEY)).toMatchObject({ resealed: 2, unreadable: [] })
    expect(await storedTokens(rotated, id)).toMatchObject({ access_token: provider.issued[0]?.access_token })
    expect(await getConnection(app, id)).toMatchObject({ status: 'needs_authorisation' })
    await rotateSecretKey(app.ctx, Buffer.alloc(32, 2).toString('base64'))
    expect(await getConnection(app, id)).toMatchObject({ status: 'connected' })

    await change({ ...provider.auth, token_url: 'https://other.test/token' })
    expect(await getConnection(app, id)).toMatchObject({ status: 'needs_authorisation' })
    expect(await storedTokens(app.ctx, id)).toBeNull()
    await app.call('DELETE', `/v1/connections/${id}`)
    for (const table of ['vault', 'oauth_flows', 'token_locks'] as const)
      expect(await app.ctx.db.selectFrom(table).selectAll().execute()).toEqual([])
  })

  test("no secret_ref can name a connection's tokens", async () => {
    const app = await startOauthApp(store)
    const { id } = await createOauthConnection(app, AUTH)
    const body = { kind: 'custom', name: 'spy', config: {}, secret_ref: `vault:${id}:tokens` }
    expect((await app.call('POST', '/v1/connections', body)).status).toBe(400)
    expect((await app.call('PUT', `/v1/connections/${id}`, { secret_ref: `vault:${id}:tokens` })).status).toBe(400)
  })

  describe('the state', () => {
    test('works once, and not after another start, a change of the app or ten minutes', async () => {
      const provider = await startAuthorizationServer()
      const app = await startOauthApp(store)
      const { id } = await createOauthConnection(app, provider.auth)
      const replaced = await provider.consent(await startFlow(app, id))
      const query = await provider.consent(await startFlow(app, id))
      const refused = async (given: URLSearchParams | Record<string, string>) => {
        const response = await callBack(app, given)
        expect([response.status, response.headers.get('location')]).toEqual([400, null])
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
        expect(await response.text()).toContain('start the authorisation again')
      }
      await refused(replaced)
      await refused({ code: 'x' })
      await refused({ code: 'x', state: 'svc_ost_foreign' })
      expect((await callBack(app, query)).status).toBe(303)
      expect(provider.tokenRequests).toHaveLength(1)
      await refused(query)
      const changed = await startFlow(app, id)
      const { config } = await getConnection(app, id)
      await app.call('PUT', `/v1/connections/${id}`, {
        config: { ...config, auth: { ...provider.auth, client_id: 'b' } },
      })
      await refused({ code: 'x', state: stateOf(changed) })
      const late = await startFlow(app, id)
      app.clock.set(app.clock.now() + 10 * MINUTE)
      const expired = await callBack(app, { code: 'x', state: stateOf(late) })
      expect(expired.headers.get('location')).toBe(`${PUBLIC_URL}/connections?oauth_error=expired`)
      await app.call('DELETE', `/v1/connections/${id}`)
      expect(provider.tokenRequests).toHaveLength(1)
    })
  })

  const shared = sharedApp({ store, env: { SVC_PUBLIC_URL: PUBLIC_URL } })

  test.each([
    '//evil.test',
    '/\\evil.test',
    '/\t/evil.test',
    '/.//evil.test',
    '/a/..//evil.test',
    '/%2e//evil.test',
    'https://evil.test/',
    'evil',
    '',
    '\\\\evil.test',
    '/a b',
    '/a\r\nset-cookie: x=1',
    'javascript:alert(1)',
  ])('return_to %j is a 400', async (return_to) => {
    const app = shared()
    const { id } = await createOauthConnection(app, AUTH, { name: `crm${return_to}` })
    expect(await app.call('POST', `/v1/connections/${id}/oauth/start`, { return_to })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("field 'return_to'") },
    })
  })

  test('an authorisation that the provider refuses, or whose code cannot be exchanged, goes back with an error code', async () => {
    const app = await startOauthApp(store)
    const server = await openUpstreamServer((_request, response) => response.writeHead(500).end('<p>secret-trace</p>'))
    const { id } = await createOauthConnection(app, { ...AUTH, token_url: `${server.url}/token` })
    const finish = async (given: Record<string, string>) => {
      const state = stateOf(await startFlow(app, id, { return_to: '/portal' }))
      return (await callBack(app, { ...given, state })).headers.get('location')
    }
    expect(await finish({ error: 'access_denied' })).toBe(`${PUBLIC_URL}/portal?oauth_error=access_denied`)
    expect(await finish({ error: '<script>' })).toBe(`${PUBLIC_URL}/portal?oauth_error=authorisation_failed`)
    expect(await finish({})).toBe(`${PUBLIC_URL}/portal?oauth_error=exchange_failed`)
    expect(server.received).toEqual([])
    expect(await finish({ code: 'c0de' })).toBe(`${PUBLIC_URL}/portal?oauth_error=exchange_failed`)
    expect(new URLSearchParams(server.received[0]?.body).get('code')).toBe('c0de')
    expect(await getHealth(app, id)).toMatchObject({ status: 'failing', message: 'the token endpoint answered 500' })
  })

  test('the callback of another issuer is refused if the issuer is configured', async () => {
    const provider = await startAuthorizationServer()
    const app = await startOauthApp(store)
    const { id } = await createOauthConnection(app, { ...provider.auth, issuer: 'https://other.test' })
    const query = await provider.consent(await startFlow(app, id))
    expect((await callBack(app, query)).headers.get('location')).toContain('oauth_error=exchange_failed')
    expect(provider.tokenRequests).toEqual([])
  })

  test('an authorisation needs SVC_PUBLIC_URL and a connection with an authorization code', async () => {
    const app = await startOauthApp(store, { SVC_PUBLIC_URL: '' })
    const { id } = await createOauthConnection(app, AUTH)
    const started = await app.call('POST', `/v1/connections/${id}/oauth/start`, {})
    expect(started).toMatchObject({ status: 400, body: { error: expect.stringContaining('set SVC_PUBLIC_URL first') } })
    for (const auth of [undefined, { ...AUTH, grant: 'client_credentials' }, { type: 'basic', username: 'a' }]) {
      const body = { kind: 'custom', name: String(auth?.type), config: auth ? { auth } : {} }
      const other = (await app.call('POST', '/v1/connections', body)).body.id
      expect(await app.call('POST', `/v1/connections/${other}/oauth/start`, {})).toMatchObject({ status: 400 })
    }
  })

  test('a client connects their own account from the portal, and reaches no other connection', async () => {
    const provider = await startAuthorizationServer()
    const app = await startOauthApp(store)
    const [ann, bob] = [await openPortal(app, 'Ann'), await openPortal(app, 'Bob')]
    const { id } = await createOauthConnection(app, provider.auth, { client_id: ann.clientId })
    const founders = await createOauthConnection(app, provider.auth)
    const list = async (key: string) => (await app.call('GET', '/v1/portal/connections', undefined, { key })).body.data
    const begin = (key: string, connection: string) =>
      app.call('POST', `/v1/portal/connections/${connection}/oauth/start`, undefined, { key })
    expect(await list(ann.key)).toEqual([{ id, name: 'crm', status: 'needs_authorisation' }])
    expect(await list(bob.key)).toEqual([])
    expect((await begin(bob.key, id)).status).toBe(404)
    expect((await begin(ann.key, founders.id)).status).toBe(404)
    // Only the browser that started the flow can finish it, so the client cannot connect another person's account.
    const passedOn = await provider.consent((await begin(ann.key, id)).body.authorize_url)
    const refused = await callBack(app, passedOn, 'svc_oauth_state=svc_ost_other')
    expect(refused.headers.get('location')).toBe(`${PUBLIC_URL}/portal?oauth_error=other_browser`)
    expect(provider.tokenRequests).toEqual([])
    const started = await begin(ann.key, id)
    const [cookie = '', ...attributes] = (started.headers.get('set-cookie') ?? '').split('; ')
    expect(attributes).toEqual(['Path=/v1/oauth/callback', 'Max-Age=600', 'HttpOnly', 'SameSite=Lax', 'Secure'])
    const back = await callBack(app, await provider.consent(started.body.authorize_url), `a=b; ${cookie}`)
    expect(back.headers.get('location')).toBe(`${PUBLIC_URL}/portal?oauth=connected`)
    expect(await list(ann.key)).toEqual([{ id, name: 'crm', status: 'connected' }])
    expect(await getConnection(app, founders.id)).toMatchObject({ status: 'needs_authorisation' })
    const entries = await app.ctx.db.selectFrom('audit_entries').selectAll().where('subject', '=', id).execute()
    expect(JSON.stringify(entries.at(-1))).toContain(ann.clientId)
  })
})

eachStore((store) => {
  describe('the state', () => {
    test('is stored only as a hash, and of two callbacks with it one exchanges the code', async () => {
      const provider = await startAuthorizationServer()
      const app = await startOauthApp(store)
      const { id } = await createOauthConnection(app, provider.auth)
      const url = await startFlow(app, id)
      expect(JSON.stringify(await app.ctx.db.selectFrom('oauth_flows').selectAll().execute())).not.toContain(
        stateOf(url),
      )
      const query = await provider.consent(url)
      const answers = await Promise.all([callBack(app, query), callBack(app, query)])
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303, 400]))
      expect(provider.tokenRequests).toHaveLength(1)
    })
  })
})

async function openPortal(app: TestApp, display_name: string) {
  const client = (await app.call('POST', '/v1/clients', { display_name })).body
  const link = (await app.call('POST', `/v1/clients/${client.id}/portal-link`, {})).body
  const session = await app.call('POST', '/v1/portal/session', { token: link.token }, { key: null })
  return { clientId: String(client.id), key: String(session.body.session_token) }
}
