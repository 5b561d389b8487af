import { describe, expect, test } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { sharedApp, type TestApp, testApp } from '../app.ts'
import { otherOrganisationSession } from '../channels/channel-app.ts'
import { eachStore, type StoreKind } from '../stores.ts'
import { openUpstreamServer } from './test-context.ts'
import { respondJson } from '../fake-upstream.ts'

const CANARY = 'canary-5ecret-value'
const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')

const start = (store: StoreKind, env: Record<string, string> = {}) =>
  testApp({ store, env: { SVC_SECRET_KEY: SECRET_KEY, SVC_EGRESS_ALLOW: '127.0.0.1', ...env } })

async function make(app: TestApp, body: Record<string, unknown>) {
  const answer = await app.call('POST', '/v1/connections', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

const audited = (app: TestApp) => app.ctx.db.selectFrom('audit_entries').selectAll().execute()

async function client(app: TestApp): Promise<string> {
  const { body } = await app.call('POST', '/v1/clients', { display_name: 'Ada' })
  return body.id
}

eachStore((store) => {
  test('who signed up by themselves reads the environment only as far as it is listed', async () => {
    const seen = await openUpstreamServer((_request, response) => respondJson(response, 200, {}))
    const mail = { kind: 'email', name: 'mail', config: { api_url: seen.url }, secret_ref: 'env:MAIL_KEY' }
    const open = { SVC_OPEN_SIGNUP: '1', MAIL_KEY: CANARY }
    const app = await start(store, open)
    const key = await otherOrganisationSession(app)
    const refused = await app.call('POST', '/v1/connections', mail, { key })
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("'MAIL_KEY'") } })
    const { id } = (await app.call('POST', '/v1/connections', { ...mail, secret_ref: null }, { key })).body
    expect((await app.call('PUT', `/v1/connections/${id}`, { secret_ref: 'env:MAIL_KEY' }, { key })).status).toBe(400)
    // As one that was stored before.
    await inTx(app.ctx, (tx) => tx.db.updateTable('connections').set({ secret_ref: mail.secret_ref }).execute())
    expect((await app.call('GET', `/v1/connections/${id}`, undefined, { key })).body.has_secret).toBe(false)
    expect((await app.call('POST', `/v1/connections/${id}/test`, undefined, { key })).body.ok).toBe(false)
    expect(seen.received).toEqual([])
    // The organisation that came with the service is the operator's own.
    expect(await make(app, { ...mail, name: 'own' })).toMatchObject({ has_secret: true })
    const listed = await start(store, { ...open, SVC_ENV_SECRETS: 'MAIL_KEY' })
    expect(
      (await listed.call('POST', '/v1/connections', mail, { key: await otherOrganisationSession(listed) })).status,
    ).toBe(201)
  })

  test('a connection is registered, read, listed, changed and deleted', async () => {
    const app = await start(store)
    const made = await app.call('POST', '/v1/connections', {
      kind: 'email',
      name: 'mail',
      config: { api_url: 'https://mail.test/send', from: 'a@b.test' },
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/connections/${made.body.id}`)
    expect(made.body).toMatchObject({
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
    const path = `/v1/connections/${made.body.id}`
    const { warnings: _, ...record } = made.body
    expect((await app.call('GET', path)).body).toEqual(record)
    expect((await app.call('GET', '/v1/connections')).body).toEqual({ data: [record], next_cursor: null })
    const changed = await app.call('PUT', path, { name: 'post', config: { api_url: 'https://other.test' } })
    expect(changed).toMatchObject({
      status: 200,
      body: { id: record.id, name: 'post', config: { api_url: 'https://other.test' } },
    })
    expect((await app.call('DELETE', path)).status).toBe(204)
    expect((await app.call('GET', path)).status).toBe(404)
    expect((await app.call('DELETE', path)).body).toEqual({ error: 'no such connection' })
    const actions = (await audited(app)).map((entry) => entry.action)
    expect(actions).toEqual(expect.arrayContaining(['connection.created', 'connection.updated', 'connection.deleted']))
  })

  test('names are unique per owner', async () => {
    const app = await start(store)
    const clientId = await client(app)
    const mail = { kind: 'email', name: 'mail' }
    await make(app, mail)
    expect(await app.call('POST', '/v1/connections', mail)).toMatchObject({ status: 409 })
    const own = await make(app, { ...mail, client_id: clientId })
    expect(own).toMatchObject({ owner: { kind: 'client', id: clientId }, client_id: clientId })
    expect(
      (await app.call('POST', '/v1/connections', { ...mail, owner: { kind: 'client', id: clientId } })).status,
    ).toBe(409)
    const other = await make(app, { kind: 'custom', name: 'crm' })
    expect((await app.call('PUT', `/v1/connections/${other.id}`, { name: 'mail' })).status).toBe(409)
    const listed = await app.call('GET', `/v1/connections?client_id=${clientId}`)
    expect(listed.body.data.map((connection: { id: string }) => connection.id)).toEqual([own.id])
  })

  test('twenty registrations of one name at once make one connection', async () => {
    const app = await start(store)
    const asks = Array.from({ length: 20 }, () => app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm' }))
    const statuses = (await Promise.all(asks)).map((answer) => answer.status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)])
  })

  test('a secret is written once and read nowhere', async () => {
    const app = await start(store)
    const { id } = await make(app, { kind: 'email', name: 'mail', secret_ref: 'vault:mail/key' })
    const written = await app.call('POST', `/v1/connections/${id}/secret`, { value: CANARY })
    expect(written).toMatchObject({ status: 200, body: { id, has_secret: true, status: 'connected' } })
    const seen = [
      written.body,
      (await app.call('GET', `/v1/connections/${id}`)).body,
      (await app.call('GET', '/v1/connections')).body,
      await audited(app),
      app.logged,
      await app.ctx.db.selectFrom('vault').selectAll().execute(),
    ]
    expect(JSON.stringify(seen)).not.toContain(CANARY)
    expect((await app.call('GET', `/v1/connections/${id}/secret`)).status).toBe(404)
    const entry = (await audited(app)).find((line) => line.action === 'secret.written')
    expect(entry).toMatchObject({ subject: id, data: JSON.stringify({ connection: id, kind: 'email' }) })
    await app.call('DELETE', `/v1/connections/${id}`)
    expect(await app.ctx.db.selectFrom('vault').selectAll().execute()).toEqual([])
  })

  test('a secret that two connections share outlives the first of them', async () => {
    const app = await start(store)
    const one = await make(app, { kind: 'custom', name: 'one', secret_ref: 'vault:shared' })
    const two = await make(app, { kind: 'custom', name: 'two', secret_ref: 'vault:shared' })
    await app.call('POST', `/v1/connections/${one.id}/secret`, { value: CANARY })
    await app.call('DELETE', `/v1/connections/${one.id}`)
    expect((await app.call('GET', `/v1/connections/${two.id}`)).body.has_secret).toBe(true)
  })

  test('a secret that nothing refers to any more is gone, after a change as after a deletion', async () => {
    const app = await start(store, { MAIL_KEY: 'x' })
    const sealed = async () => (await app.ctx.db.selectFrom('vault').select('key').execute()).map(({ key }) => key)
    const one = await make(app, { kind: 'custom', name: 'one' })
    const two = await make(app, { kind: 'custom', name: 'two', secret_ref: 'vault:shared' })
    const [first, second] = [`/v1/connections/${one.id}`, `/v1/connections/${two.id}`]
    await app.call('POST', `${first}/secret`, { value: CANARY })
    await app.call('PUT', first, { name: 'uno', secret_ref: `vault:${one.id}` })
    expect(await sealed()).toEqual([one.id])
    await app.call('PUT', first, { secret_ref: 'vault:shared' })
    expect(await sealed()).toEqual([])
    await app.call('POST', `${first}/secret`, { value: CANARY })
    await app.call('PUT', first, { secret_ref: 'env:MAIL_KEY' })
    expect(await sealed()).toEqual(['shared'])
    await app.call('PUT', second, { secret_ref: null })
    expect(await sealed()).toEqual([])
    await app.call('POST', `${second}/secret`, { value: CANARY })
    // As it lies where an earlier change left it.
    const left = { secret_ref: 'env:MAIL_KEY' }
    await app.ctx.store.transact((db) => db.updateTable('connections').set(left).where('id', '=', two.id).execute())
    await app.call('DELETE', second)
    expect(await sealed()).toEqual([])
  })

  test("no connection names another's own place in the vault", async () => {
    const app = await start(store)
    const one = await make(app, { kind: 'custom', name: 'one' })
    const two = await make(app, { kind: 'custom', name: 'two' })
    await app.call('POST', `/v1/connections/${one.id}/secret`, { value: CANARY })
    const error = "field 'secret_ref' must not name another connection's secret"
    const body = { kind: 'email', name: 'three', secret_ref: `vault:${one.id}` }
    expect(await app.call('POST', '/v1/connections', body)).toMatchObject({ status: 400, body: { error } })
    const put = (id: string) => app.call('PUT', `/v1/connections/${id}`, { secret_ref: `vault:${one.id}` })
    expect(await put(two.id)).toMatchObject({ status: 400, body: { error } })
    expect(await put(one.id)).toMatchObject({ status: 200, body: { has_secret: true } })
  })

  test('a test says what is wrong by one harmless call and keeps it on the record', async () => {
    const app = await start(store)
    let status = 401
    const server = await openUpstreamServer((_, response) => respondJson(response, status, {}))
    const { id } = await make(app, { kind: 'email', name: 'mail', config: { api_url: `${server.url}/send?k=1` } })
    const path = `/v1/connections/${id}`
    const refused = await app.call('POST', `${path}/test`)
    expect(refused.body).toEqual({
      ok: false,
      checked: `OPTIONS ${server.url}`,
      status: 401,
      error: 'upstream answered 401: it does not accept the secret',
    })
    expect((await app.call('GET', path)).body).toMatchObject({ last_error: refused.body.error, last_ok_at: null })
    status = 204
    expect((await app.call('POST', `${path}/test`)).body).toMatchObject({ ok: true, status: 204, error: null })
    expect((await app.call('GET', path)).body).toMatchObject({ last_error: null, last_ok_at: expect.any(String) })
    expect(server.received.every((request) => request.method === 'OPTIONS' && request.body === '')).toBe(true)
  })
})

describe('what is refused', () => {
  const shared = sharedApp({ store: 'sqlite', env: { SVC_SECRET_KEY: SECRET_KEY } })

  test.each([
    [{ name: 'mail' }, "field 'kind' is required: one of email, webhook, custom, broker"],
    [{ kind: 'email' }, "field 'name' is required"],
    [{ kind: 'fax', name: 'x' }, "field 'kind' must be one of email, webhook, custom, broker"],
    [{ kind: 'email', name: 7 }, "field 'name' must be a string"],
    [{ kind: 'email', name: '' }, "field 'name' must have at least 1 characters"],
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
  ])('%j is 400', async (body, error) => {
    expect(await shared().call('POST', '/v1/connections', body)).toMatchObject({ status: 400, body: { error } })
  })

  test('a client that is not there is 404', async () => {
    const app = await start('sqlite')
    const answer = await app.call('POST', '/v1/connections', { kind: 'email', name: 'x', client_id: 'cli_gone' })
    expect(answer).toMatchObject({ status: 404, body: { error: 'no such client' } })
  })

  test('an operator reads connections and changes none', async () => {
    const app = await start('sqlite')
    const { id } = await make(app, { kind: 'custom', name: 'crm' })
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

  test('a secret for a connection that reads the environment is 409, an empty one 400, the kind is fixed', async () => {
    const app = await start('sqlite', { MAIL_KEY: CANARY })
    const { id, has_secret } = await make(app, { kind: 'email', name: 'mail', secret_ref: 'env:MAIL_KEY' })
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

  test('what will be refused at use is warned of at registration', async () => {
    const app = await start('sqlite', { SVC_EGRESS_ALLOW: '' })
    const warned = async (kind: string, config: object) =>
      (await make(app, { kind, name: `${kind}-${JSON.stringify(config)}`, config })).warnings
    expect(await warned('email', {})).toEqual(['config.api_url is missing'])
    expect(await warned('webhook', { url: 'http://169.254.169.254/' })).toEqual([
      'config.url will be refused: its address is private or reserved',
    ])
    expect(await warned('custom', { base_url: 'http://api.test' })).toEqual([
      'config.base_url is not https: the secret would travel unprotected',
    ])
  })
})
