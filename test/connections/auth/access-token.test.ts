import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { acquireTokenLock } from '../../../src/connections/auth/oauth-rows.ts'
import { readThroughConnection } from '../../../src/connections/actions/read-through.ts'
import { sendAction } from '../../../src/connections/actions/send-action.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { respondJson } from '../../fake-upstream.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'
import { anyStore, eachStore } from '../../stores.ts'
import { openUpstreamServer } from '../test-context.ts'
import { CLIENT_SECRET, startAuthorizationServer } from './authorization-server.ts'
import {
  ACTION,
  bearers,
  createAuthorisedConnection,
  createOauthConnection,
  getConnection,
  getHealth,
  MINUTE,
  startOauthApp,
  storedTokens,
} from './oauth-app.ts'

/** `config.auth` of a client that gets tokens with its own secret. */
const clientCredentials = (tokenUrl: string) => ({
  type: 'oauth2',
  grant: 'client_credentials',
  token_url: tokenUrl,
  client_id: 'desk',
  scopes: ['read'],
})

/** A token endpoint that counts its tokens. */
const openTokenServer = async () => {
  const server = await openUpstreamServer((_request, response) =>
    respondJson(response, 200, {
      access_token: `token-${server.received.length}`,
      token_type: 'Bearer',
      expires_in: 3600,
    }),
  )
  return server
}

anyStore((store) => {
  test('client credentials: the token is requested at the first use and kept until it expires', async () => {
    const app = await startOauthApp(store)
    const server = await openTokenServer()
    const { api, id } = await createOauthConnection(app, clientCredentials(server.url))
    expect(await getConnection(app, id)).toMatchObject({ status: 'connected' })
    expect(server.received).toEqual([])
    for (let call = 0; call < 3; call++)
      expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'ok' })
    expect(server.received).toHaveLength(1)
    expect(Object.fromEntries(new URLSearchParams(server.received[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read',
    })
    expect(server.received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from(`desk:${CLIENT_SECRET}`).toString('base64')}`,
    )
    app.clock.set(app.clock.now() + 60 * MINUTE)
    await sendAction(app.ctx, { id }, ACTION)
    expect(bearers(api.received)).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })

  test('client credentials of a real provider, in the form of the request', async () => {
    const app = await startOauthApp(store)
    const provider = await startAuthorizationServer()
    const auth = { ...clientCredentials(`${provider.url}/token`), scopes: [] }
    const { id } = await createOauthConnection(app, auth)
    expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'ok' })
    const server = await openTokenServer()
    const posted = await createOauthConnection(
      app,
      { ...clientCredentials(server.url), client_auth: 'post' },
      { name: 'post' },
    )
    await sendAction(app.ctx, posted, ACTION)
    const form = new URLSearchParams(server.received[0]?.body)
    expect([form.get('client_id'), form.get('client_secret')]).toEqual(['desk', CLIENT_SECRET])
    expect(server.received[0]?.headers.authorization).toBeUndefined()
  })

  test('a 401 of the API: one new token and one more request; a second 401 is the result', async () => {
    const app = await startOauthApp(store)
    const server = await openTokenServer()
    const { api, id } = await createOauthConnection(app, clientCredentials(server.url))
    api.respond = ({ headers }, response) =>
      respondJson(response, headers.authorization === 'Bearer token-1' ? 401 : 200, headers)
    const result = await sendAction(app.ctx, { id }, ACTION)
    expect(result).toMatchObject({ outcome: 'ok', status: 200, result: { authorization: 'Bearer [secret]' } })
    expect(bearers(api.received)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(api.received[1]?.body).toBe(JSON.stringify(ACTION.payload))
    api.respond = (_request, response) => respondJson(response, 401, {})
    expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'failed', status: 401 })
    expect(bearers(api.received).slice(2)).toEqual(['Bearer token-2', 'Bearer token-3'])
    expect((await app.call('POST', `/v1/connections/${id}/test`)).body).toMatchObject({ ok: false, status: 401 })
    expect(bearers(api.received).slice(4)).toEqual(['Bearer token-3', 'Bearer token-4'])
  })

  test('a revoked refresh token: the connection fails, says to connect again, and needs an authorisation', async () => {
    const app = await startOauthApp(store)
    const provider = await startAuthorizationServer()
    const { api, id } = await createAuthorisedConnection(app, provider)
    const hook = { url: 'https://hooks.test/', events: ['connection.failing'] }
    const { id: hookId } = (await app.call('POST', '/v1/webhooks', hook)).body
    await provider.revoke(provider.issued[0]?.refresh_token ?? '')
    app.clock.set(app.clock.now() + 61 * MINUTE)
    const error = 'the provider has ended the authorisation: connect the account again'
    expect(await sendAction(app.ctx, { id }, ACTION)).toEqual({
      outcome: 'failed',
      ok: false,
      status: null,
      result: null,
      error,
    })
    expect(api.received).toEqual([])
    expect(await getConnection(app, id)).toMatchObject({ status: 'needs_authorisation', last_error: error })
    expect(await getHealth(app, id)).toMatchObject({ status: 'failing', message: error })
    expect(await storedTokens(app.ctx, id)).toBeNull()
    expect((await app.call('GET', `/v1/webhooks/${hookId}/deliveries`)).body.data).toMatchObject([
      { event: 'connection.failing' },
    ])
    const before = provider.tokenRequests.length
    expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({
      outcome: 'failed',
      error: "connection 'crm' is not connected yet: authorise it first",
    })
    expect(provider.tokenRequests).toHaveLength(before)
  })

  describe('a token endpoint that does not work', () => {
    const failures: [string, string, (response: ServerResponse) => void][] = [
      [
        'answers 500',
        'the token endpoint answered 500',
        (response) => respondJson(response, 500, { error: CLIENT_SECRET }),
      ],
      [
        'answers HTML',
        'the token endpoint answered 200 without a JSON object',
        (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${CLIENT_SECRET}`),
      ],
      [
        'redirects',
        'the token endpoint answered with a redirect, which is not followed',
        (response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      ],
      [
        'sends too much',
        'the token endpoint cannot be used: the response is larger than 256 KB',
        (response) => response.writeHead(200).end('x'.repeat(300 * 1024)),
      ],
      [
        'closes the connection',
        'the token endpoint cannot be used: the connection closed before the response was complete (ECONNRESET)',
        (response) => response.destroy(),
      ],
      [
        'refuses the client',
        'the token endpoint refused the request: invalid_client',
        (response) => respondJson(response, 401, { error: 'invalid_client', error_description: CLIENT_SECRET }),
      ],
      [
        'echoes the secret as its error',
        'the token endpoint gave an answer that cannot be used',
        (response) => respondJson(response, 400, { error: CLIENT_SECRET }),
      ],
      [
        'reports an error with status 200',
        'the token endpoint refused the request: invalid_scope',
        (response) => respondJson(response, 200, { error: 'invalid_scope' }),
      ],
      [
        'sends no token',
        'the token endpoint gave an answer that cannot be used',
        (response) => respondJson(response, 200, { token_type: 'bearer' }),
      ],
    ]

    test.each(failures)(
      '%s: the action has failed with a name, and nothing shows the secret',
      async (_, error, respond) => {
        const app = await startOauthApp(store)
        const server = await openUpstreamServer((_request, response) => respond(response))
        const { api, id } = await createOauthConnection(app, clientCredentials(server.url))
        expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'failed', status: null, error })
        const read = { capability: 'crm', path: 'a', arguments: null }
        await expect(readThroughConnection(app.ctx, { id }, read)).rejects.toMatchObject({
          status: 502,
          message: error,
        })
        expect((await app.call('POST', `/v1/connections/${id}/test`)).body).toMatchObject({ ok: false, error })
        expect(await getHealth(app, id)).toMatchObject({ status: 'failing', message: error })
        expect(api.received).toEqual([])
        expect(app.logged.join('\n')).not.toContain(CLIENT_SECRET)
      },
    )

    test('hangs: the action has failed after the time limit', async () => {
      const app = await startOauthApp(store)
      const server = await openUpstreamServer(() => {})
      const { id } = await createOauthConnection(app, clientCredentials(server.url))
      const sent = sendAction(app.ctx, { id }, ACTION)
      await eventually(() => server.received.length === 1)
      await app.clock.advance(20_000)
      const error = 'the token endpoint cannot be used: the server did not respond in time'
      expect(await sent).toMatchObject({ outcome: 'failed', error })
    })
  })

  describe('a token endpoint on a private network', () => {
    test.each([
      ['http://169.254.169.254/token', 'the token endpoint is not https: set config.auth.token_url to an https url'],
      [
        'https://169.254.169.254/token',
        'the token endpoint cannot be used: destination is not allowed: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it',
      ],
      // A name is looked up when the connection is opened, and every address is checked then.
      [
        'https://localhost:1/token',
        'the token endpoint cannot be used: destination is not allowed: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it',
      ],
      ['http://provider.test/token', 'the token endpoint is not https: set config.auth.token_url to an https url'],
    ])('%s is not called', async (url, error) => {
      const app = await startOauthApp(store, { SVC_EGRESS_ALLOW: '' })
      const { id } = await createOauthConnection(app, clientCredentials(url))
      expect(await sendAction(app.ctx, { id }, ACTION)).toMatchObject({ outcome: 'failed', error })
    })

    test('is a warning when the connection is created', async () => {
      const app = await startOauthApp(store, { SVC_EGRESS_ALLOW: '' })
      const config = { base_url: 'https://a.test', auth: clientCredentials('https://10.0.0.1/token') }
      const { body } = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm', config })
      expect(body.warnings).toEqual([
        'config.auth.token_url will be refused: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it',
      ])
    })
  })
})

eachStore((store) => {
  test('a replica that died while it refreshed blocks the others for 35 seconds at most', async () => {
    const app = await startOauthApp(store)
    const server = await openTokenServer()
    const { id } = await createOauthConnection(app, clientCredentials(server.url))
    const now = app.clock.now()
    const times = { now: toIsoTime(now), expiresAt: toIsoTime(now + 30_000) }
    expect(await inTx(app.ctx, (tx) => acquireTokenLock(tx.db, id, times))).toBe(1)
    const before = app.ctx.counts.commits
    let isDone = false
    const sent = sendAction(app.ctx, { id }, ACTION).finally(() => (isDone = true))
    // The call commits its attempt to get the lock, and then waits.
    await eventually(() => app.ctx.counts.commits > before)
    await app.clock.advance(29_000)
    expect([isDone, server.received.length]).toEqual([false, 0])
    await app.clock.advance(6_000)
    expect(await sent).toMatchObject({ outcome: 'ok' })
    expect(server.received).toHaveLength(1)
  })

  describe('a token endpoint that does not work', () => {
    test('is asked once for many calls at the same time', async () => {
      const app = await startOauthApp(store)
      let fail = (): void => {}
      const server = await openUpstreamServer((_request, response) => {
        fail = () => void response.writeHead(503).end()
      })
      const { id } = await createOauthConnection(app, clientCredentials(server.url))
      const before = app.ctx.counts.commits
      const sent = Array.from({ length: 20 }, () => sendAction(app.ctx, { id }, ACTION))
      // Each call commits its attempt to get the lock. The service commits other things too, so this waits until it is quiet.
      let seen = 0
      await eventually(async () => {
        const isQuiet = seen === app.ctx.counts.commits
        seen = app.ctx.counts.commits
        await new Promise((resolve) => setTimeout(resolve, 500))
        return isQuiet && seen >= before + 20 && server.received.length > 0
      })
      fail()
      for (const result of await Promise.all(sent)) {
        expect(result).toMatchObject({ outcome: 'failed', error: 'the token endpoint answered 503' })
      }
      expect(server.received).toHaveLength(1)
    })
  })
})
