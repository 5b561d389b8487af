import { describe, expect, test } from 'vitest'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { sharedApp, type TestApp, testApp } from '../app.ts'
import { otherOrganisationSession } from '../customers/channels/channel-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { anyStore, eachStore, type StoreKind } from '../stores.ts'
import { openUpstreamServer } from './test-context.ts'

const CANARY = 'canary-5ecret-value'
const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')

const startApp = (store: StoreKind, env: Record<string, string> = {}) =>
  testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY, SVC_EGRESS_ALLOW: '127.0.0.1', ...env } })

async function register(app: TestApp, body: Record<string, unknown>) {
  const answer = await app.call('POST', '/v1/connections', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

const auditEntries = (app: TestApp) => app.ctx.db.selectFrom('audit_entries').selectAll().execute()

async function createClient(app: TestApp): Promise<string> {
  const { body } = await app.call('POST', '/v1/clients', { display_name: 'Ada' })
  return body.id
}

anyStore((store) => {
  test('an organisation that signed up itself can read only environment variables in SVC_ENV_SECRETS', async () => {
    const server = await openUpstreamServer((_request, response) => respondJson(response, 200, {}))
    const mail = { kind: 'email', name: 'mail', config: { api_url: server.url }, secret_ref: 'env:MAIL_KEY' }
    const env = { SVC_OPEN_SIGNUP: '1', MAIL_KEY: CANARY }
    const app = await startApp(store, env)
    const key = await otherOrganisationSession(app)
    const refused = await app.call('POST', '/v1/connections', mail, { key })
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("'MAIL_KEY'") } })
    const { id } = (await app.call('POST', '/v1/connections', { ...mail, secret_ref: null }, { key })).body
    expect((await app.call('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_KEY' }, { key })).status).toBe(400)
    // As if it had been stored before the check existed.
    await inTx(app.ctx, (tx) => tx.db.updateTable('connections').set({ secret_ref: mail.secret_ref }).execute())
    expect((await app.call('GET', `/v1/connections/${id}`, undefined, { key })).body.has_secret).toBe(false)
    expect((await app.call('POST', `/v1/connections/${id}/test`, undefined, { key })).body.ok).toBe(false)
    expect(server.received).toEqual([])
    // The first organisation is the operator's own.
    expect(await register(app, { ...mail, name: 'own' })).toMatchObject({ has_secret: true })
    const listed = await startApp(store, { ...env, SVC_ENV_SECRETS: 'MAIL_KEY' })
    expect(
      (await listed.call('POST', '/v1/connections', mail, { key: await otherOrganisationSession(listed) })).status,
    ).toBe(201)
  })

  test('a connection is registered, read, listed, changed and deleted', async () => {
    const app = await startApp(store)
    const created = await app.call('POST', '/v1/connections', {
      kind: 'email',
      name: 'mail',
      config: { api_url: 'https://mail.test/send', from: 'a@b.test' },
    })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/connections/${created.body.id}`)
    expect(created.body).toMatchObject({
      kind: 'email',
      name: 'mail',
      owner: { kind: 'founder' },
      client_id: null,
      config: { api_url: 'https://mail.test/send', from: 'a@b.test' },
      secret_ref: null,
      has_secret: false,
      status: 'needs_secret',
      warnings: [],
    })
    const path = `/v1/connections/${created.body.id}`
    const { warnings: _, ...view } = created.body
    expect((await app.call('GET', path)).body).toEqual(view)
    expect((await app.call('GET', '/v1/connections')).body).toEqual({ data: [view], next_cursor: null })
    const changed = await app.call('PUT', path, { name: 'post', config: { api_url: 'https://other.test' } })
    expect(changed).toMatchObject({
      status: 200,
      body: { id: view.id, name: 'post', config: { api_url: 'https://other.test' } },
    })
    expect((await app.call('DELETE', path)).status).toBe(204)
    expect((await app.call('GET', path)).status).toBe(404)
    expect((await app.call('DELETE', path)).body).toEqual({ error: 'no such connection' })
    const actions = (await auditEntries(app)).map((entry) => entry.action)
    expect(actions).toEqual(expect.arrayContaining(['connection.created', 'connection.updated', 'connection.deleted']))
  })

  test('connection names are unique per owner', async () => {
    const app = await startApp(store)
    const clientId = await createClient(app)
    const mail = { kind: 'email', name: 'mail' }
    await register(app, mail)
    expect(await app.call('POST', '/v1/connections', mail)).toMatchObject({ status: 409 })
    const own = await register(app, { ...mail, client_id: clientId })
    expect(own).toMatchObject({ owner: { kind: 'client', id: clientId }, client_id: clientId })
    expect(
      (await app.call('POST', '/v1/connections', { ...mail, owner: { kind: 'client', id: clientId } })).status,
    ).toBe(409)
    const other = await register(app, { kind: 'custom', name: 'crm' })
    expect((await app.call('PUT', `/v1/connections/${other.id}`, { name: 'mail' })).status).toBe(409)
    const listed = await app.call('GET', `/v1/connections?client_id=${clientId}`)
    expect(listed.body.data.map((connection: { id: string }) => connection.id)).toEqual([own.id])
  })

  test('a secret can be written and is never shown', async () => {
    const app = await startApp(store)
    const { id } = await register(app, { kind: 'email', name: 'mail', secret_ref: 'vault:mail/key' })
    const written = await app.call('POST', `/v1/connections/${id}/secret`, { value: CANARY })
    expect(written).toMatchObject({ status: 200, body: { id, has_secret: true, status: 'connected' } })
    const seen = [
      written.body,
      (await app.call('GET', `/v1/connections/${id}`)).body,
      (await app.call('GET', '/v1/connections')).body,
      await auditEntries(app),
      app.logged,
      await app.ctx.db.selectFrom('vault').selectAll().execute(),
    ]
    expect(JSON.stringify(seen)).not.toContain(CANARY)
    expect((await app.call('GET', `/v1/connections/${id}/secret`)).status).toBe(404)
    const entry = (await auditEntries(app)).find((line) => line.action === 'secret.written')
    expect(entry).toMatchObject({ subject: id, data: JSON.stringify({ connection: id, kind: 'email' }) })
    await app.call('DELETE', `/v1/connections/${id}`)
    expect(await app.ctx.db.selectFrom('vault').selectAll().execute()).toEqual([])
  })

  test('a secret that two connections share stays when one of them is deleted', async () => {
    const app = await startApp(store)
    const one = await register(app, { kind: 'custom', name: 'one', secret_ref: 'vault:shared' })
    const two = await register(app, { kind: 'custom', name: 'two', secret_ref: 'vault:shared' })
    await app.call('POST', `/v1/connections/${one.id}/secret`, { value: CANARY })
    await app.call('DELETE', `/v1/connections/${one.id}`)
    expect((await app.call('GET', `/v1/connections/${two.id}`)).body.has_secret).toBe(true)
  })

  test('a secret is deleted when a change or deletion leaves no connection that refers to it', async () => {
    const app = await startApp(store, { MAIL_KEY: 'x' })
    const vaultKeys = async () => (await app.ctx.db.selectFrom('vault').select('key').execute()).map(({ key }) => key)
    const one = await register(app, { kind: 'custom', name: 'one' })
    const two = await register(app, { kind: 'custom', name: 'two', secret_ref: 'vault:shared' })
    const [first, second] = [`/v1/connections/${one.id}`, `/v1/connections/${two.id}`]
    await app.call('POST', `${first}/secret`, { value: CANARY })
    await app.call('PUT', first, { name: 'uno', secret_ref: `vault:${one.id}` })
    expect(await vaultKeys()).toEqual([one.id])
    await app.call('PUT', first, { secret_ref: 'vault:shared' })
    expect(await vaultKeys()).toEqual([])
    await app.call('POST', `${first}/secret`, { value: CANARY })
    await app.call('PUT', first, { secret_ref: 'env:MAIL_KEY' })
    expect(await vaultKeys()).toEqual(['shared'])
    await app.call('PUT', second, { secret_ref: null })
    expect(await vaultKeys()).toEqual([])
    await app.call('POST', `${second}/secret`, { value: CANARY })
    // As an earlier change would have left it.
    const leftover = { secret_ref: 'env:MAIL_KEY' }
    await app.ctx.store.transact((db) => db.updateTable('connections').set(leftover).where('id', '=', two.id).execute())
    await app.call('DELETE', second)
    expect(await vaultKeys()).toEqual([])
  })

  test("a connection cannot refer to another connection's vault key", async () => {
    const app = await startApp(store)
    const one = await register(app, { kind: 'custom', name: 'one' })
    const two = await register(app, { kind: 'custom', name: 'two' })
    await app.call('POST', `/v1/connections/${one.id}/secret`, { value: CANARY })
    const error = "field 'secret_ref' must not name another connection's secret"
    const body = { kind: 'email', name: 'three', secret_ref: `vault:${one.id}` }
    expect(await app.call('POST', '/v1/connections', body)).toMatchObject({ status: 400, body: { error } })
    const put = (id: string) => app.call('PUT', `/v1/connections/${id}`, { secret_ref: `vault:${one.id}` })
    expect(await put(two.id)).toMatchObject({ status: 400, body: { error } })
    expect(await put(one.id)).toMatchObject({ status: 200, body: { has_secret: true } })
  })

  test('testing a connection makes one call without side effects and records the error', async () => {
    const app = await startApp(store)
    let status = 401
    const server = await openUpstreamServer((_, response) => respondJson(response, status, {}))
    const { id } = await register(app, { kind: 'email', name: 'mail', config: { api_url: `${server.url}/send?k=1` } })
    const path = `/v1/connections/${id}`
    const error = 'upstream answered 401: the connection has no secret yet'
    expect((await app.call('POST', `${path}/test`)).body).toMatchObject({ ok: false, error })
    await app.call('POST', `${path}/secret`, { value: CANARY })
    const refused = await app.call('POST', `${path}/test`)
    expect(refused.body).toEqual({
      ok: false,
      checked: `OPTIONS ${server.url}/send`,
      status: 401,
      error: 'upstream answered 401: it does not accept the secret',
    })
    expect((await app.call('GET', path)).body).toMatchObject({ last_error: refused.body.error, last_ok_at: null })
    status = 204
    expect((await app.call('POST', `${path}/test`)).body).toMatchObject({ ok: true, status: 204, error: null })
    expect((await app.call('GET', path)).body).toMatchObject({ last_error: null, last_ok_at: expect.any(String) })
    expect(server.received.every((request) => request.method === 'OPTIONS' && request.body === '')).toBe(true)
  })

  test('a test names what it called, and fails if the server does not have it', async () => {
    const app = await startApp(store)
    let answer: [number, object] = [404, {}]
    const server = await openUpstreamServer((_, response) => respondJson(response, ...answer))
    const config = { base_url: `${server.url}/v1` }
    const { id } = await register(app, { kind: 'custom', name: 'api', config })
    await app.call('POST', `/v1/connections/${id}/secret`, { value: CANARY })
    const test = async () => (await app.call('POST', `/v1/connections/${id}/test`)).body
    expect(await test()).toEqual({
      ok: false,
      checked: `GET ${server.url}/v1`,
      status: 404,
      error: `the server was reached, but GET ${server.url}/v1 answered 404: set config.test_path to a path that it has`,
    })
    await app.call('PUT', `/v1/connections/${id}`, { config: { ...config, test_path: '/balance?page=1' } })
    expect(await test()).toEqual({
      ok: false,
      checked: `GET ${server.url}/v1/balance`,
      status: 404,
      error: `GET ${server.url}/v1/balance answered 404: the address or the path of the test is wrong`,
    })
    answer = [500, { Message: `The account of ${CANARY} is\nclosed.` }]
    const error = `GET ${server.url}/v1/balance answered 500: The account of [secret] is closed.`
    expect(await test()).toMatchObject({ ok: false, status: 500, error })
    expect((await app.call('GET', `/v1/connections/${id}`)).body.last_error).toBe(error)
    const changed = await app.call('PUT', `/v1/connections/${id}`, { config })
    expect(changed.body).toMatchObject({ last_error: null, last_error_at: null, last_ok_at: null })
  })
})

eachStore((store) => {
  test('of twenty concurrent registrations with one name, one succeeds', async () => {
    const app = await startApp(store)
    const requests = Array.from({ length: 20 }, () =>
      app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm' }),
    )
    const statuses = (await Promise.all(requests)).map((answer) => answer.status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)])
  })
})

describe('invalid connection requests', () => {
  const shared = sharedApp({ store: 'sqlite', env: { SVC_SECRET_KEY: SECRET_KEY } })

  test.each([
    [{ name: 'mail' }, "field 'kind' is required: one of email, webhook, custom, broker, mcp"],
    [{ kind: 'email' }, "field 'name' is required"],
    [{ kind: 'fax', name: 'x' }, "field 'kind' must be one of email, webhook, custom, broker, mcp"],
    [{ kind: 'email', name: 7 }, "field 'name' must be a string"],
    [{ kind: 'email', name: '' }, "field 'name' must not be empty"],
    [{ kind: 'email', name: 'x', config: [] }, "field 'config' must be an object"],
    [{ kind: 'email', name: 'x', secret_ref: 'plain' }, "field 'secret_ref' must be env:NAME or vault:KEY"],
    [
      { kind: 'email', name: 'x', secret_ref: 'env:SVC_SECRET_KEY' },
      "field 'secret_ref' must not name the environment variable 'SVC_SECRET_KEY'",
    ],
    [{ kind: 'email', name: 'x', owner: { kind: 'client' } }, "field 'owner.id' is required"],
    [
      { kind: 'email', name: 'x', owner: { kind: 'founder' }, client_id: 'cli_1' },
      "fields 'owner' and 'client_id' name different owners",
    ],
  ])('the body %j is 400', async (body, error) => {
    expect(await shared().call('POST', '/v1/connections', body)).toMatchObject({ status: 400, body: { error } })
  })

  test('an unknown client is 404', async () => {
    const app = await startApp('sqlite')
    const answer = await app.call('POST', '/v1/connections', { kind: 'email', name: 'x', client_id: 'cli_gone' })
    expect(answer).toMatchObject({ status: 404, body: { error: 'no such client' } })
  })

  test('an operator can read connections and cannot change them', async () => {
    const app = await startApp('sqlite')
    const { id } = await register(app, { kind: 'custom', name: 'crm' })
    const { key } = (await app.call('POST', '/v1/keys', { name: 'op', role: 'operator' })).body
    expect((await app.call('GET', `/v1/connections/${id}`, undefined, { key })).status).toBe(200)
    const refused = await Promise.all([
      app.call('POST', '/v1/connections', { kind: 'custom', name: 'x' }, { key }),
      app.call('PUT', `/v1/connections/${id}`, { name: 'x' }, { key }),
      app.call('DELETE', `/v1/connections/${id}`, undefined, { key }),
      app.call('POST', `/v1/connections/${id}/secret`, { value: 'x' }, { key }),
      app.call('POST', `/v1/connections/${id}/test`, undefined, { key }),
    ])
    expect(refused.map((answer) => answer.status)).toEqual([403, 403, 403, 403, 403])
  })

  test('writing a secret for an env reference is 409, an empty secret 400, changing the kind 400', async () => {
    const app = await startApp('sqlite', { MAIL_KEY: CANARY })
    const { id, has_secret } = await register(app, { kind: 'email', name: 'mail', secret_ref: 'env:MAIL_KEY' })
    expect(has_secret).toBe(true)
    const path = `/v1/connections/${id}`
    expect((await app.call('POST', `${path}/secret`, { value: 'x' })).status).toBe(409)
    expect((await app.call('POST', `${path}/secret`, { value: '' })).status).toBe(400)
    expect((await app.call('POST', `${path}/secret`, { value: 5 })).status).toBe(400)
    expect((await app.call('PUT', path, { kind: 'webhook' })).status).toBe(400)
    expect((await app.call('PUT', path, { secret_ref: null })).body).toMatchObject({
      secret_ref: null,
      has_secret: false,
    })
  })

  test('registration warns about config that will fail when it is used', async () => {
    const app = await startApp('sqlite', { SVC_EGRESS_ALLOW: '' })
    const warningsFor = async (kind: string, config: object) =>
      (await register(app, { kind, name: `${kind}-${JSON.stringify(config)}`, config })).warnings
    expect(await warningsFor('email', {})).toEqual(['config.api_url is missing'])
    expect(await warningsFor('webhook', { url: 'http://169.254.169.254/' })).toEqual([
      'config.url will be refused: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it',
    ])
    expect(await warningsFor('custom', { base_url: 'http://api.test' })).toEqual([
      'config.base_url is not https: the secret would be sent unencrypted',
    ])
  })
})
