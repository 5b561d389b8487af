import { expect, test } from 'vitest'
import { testApp } from '../app.ts'
import { openFakeBroker } from './broker/fake-broker.ts'
import { anyStore, type StoreKind } from '../stores.ts'

async function appWithBroker(store: StoreKind = 'sqlite') {
  const server = await openFakeBroker()
  const app = await testApp({ store, env: { BROKER_API_KEY: 'broker-k3y', BROKER_BASE_URL: server.url } })
  return { app, server }
}

anyStore((store) => {
  test('a toolkit can be found and connected, and is live once the broker reports ACTIVE', async () => {
    const { app, server } = await appWithBroker(store)
    const found = await app.call('GET', '/v1/broker/toolkits?search=gm')
    expect(found.body).toEqual({ data: [{ slug: 'gmail', name: 'Gmail', description: 'Mail' }], next_cursor: null })
    const started = await app.call('POST', '/v1/broker/toolkits/gmail/connect', { read_tools: ['GMAIL_LIST'] })
    expect(started.status).toBe(201)
    const { connection_id: id, redirect_url } = started.body
    expect(redirect_url).toBe('https://auth.test/ca_1')
    const view = async () => (await app.call('GET', `/v1/connections/${id}`)).body
    expect(await view()).toMatchObject({
      kind: 'broker',
      name: 'gmail',
      status: 'needs_authorisation',
      config: { toolkit: 'gmail', read_tools: ['GMAIL_LIST'] },
    })
    const status = async () => (await app.call('GET', `/v1/connections/${id}/broker/status`)).body
    expect(await status()).toEqual({ status: 'INITIATED', active: false })
    expect((await view()).config.connected_account_id).toBeUndefined()
    server.authorise('ca_1')
    expect(await status()).toEqual({ status: 'ACTIVE', active: true })
    expect(await view()).toMatchObject({ status: 'connected', config: { connected_account_id: 'ca_1' } })
    expect((await app.call('POST', `/v1/connections/${id}/test`)).body).toMatchObject({ ok: true })
    server.accounts.set('ca_1', { status: 'EXPIRED' })
    expect(await status()).toEqual({ status: 'EXPIRED', active: false })
  })

  test('the broker user is the project, or the project and the client', async () => {
    const { app, server } = await appWithBroker(store)
    const { id: clientId } = (await app.call('POST', '/v1/clients', {})).body
    const ofProject = await app.call('POST', '/v1/broker/toolkits/slack/connect', {})
    const ofClient = await app.call('POST', '/v1/broker/toolkits/slack/connect', { client_id: clientId })
    expect(ofClient.body.connection_id).not.toBe(ofProject.body.connection_id)
    const { project_id } = (await app.call('GET', `/v1/connections/${ofProject.body.connection_id}`)).body
    expect([...server.accounts.values()].map((account) => account.user_id)).toEqual([
      project_id,
      `${project_id}:${clientId}`,
    ])
    expect((await app.call('POST', '/v1/broker/toolkits/slack/connect', { client_id: 'cli_gone' })).status).toBe(404)
  })

  test('a connection that is authorised again keeps its account until the new one is ACTIVE', async () => {
    const { app, server } = await appWithBroker(store)
    const { connection_id: id } = (await app.call('POST', '/v1/broker/toolkits/gmail/connect', {})).body
    server.authorise('ca_1')
    await app.call('GET', `/v1/connections/${id}/broker/status`)
    const again = await app.call('POST', `/v1/connections/${id}/broker/connect`, {
      callback_url: 'https://shop.test/done',
    })
    expect(again).toMatchObject({ status: 200, body: { connection_id: id, redirect_url: 'https://auth.test/ca_2' } })
    const account = async () => (await app.call('GET', `/v1/connections/${id}`)).body.config.connected_account_id
    expect((await app.call('GET', `/v1/connections/${id}/broker/status`)).body).toEqual({
      status: 'ACTIVE',
      active: true,
    })
    expect(await account()).toBe('ca_1')
    server.authorise('ca_2')
    await app.call('GET', `/v1/connections/${id}/broker/status`)
    expect(await account()).toBe('ca_2')
    const linked = server.received
      .filter((request) => request.url.endsWith('/link'))
      .map((request) => JSON.parse(request.body))
    expect(linked.map((body) => body.callback_url)).toEqual([undefined, 'https://shop.test/done'])
    expect(server.authConfigs).toHaveLength(1)
  })
})

test('connecting a toolkit twice uses the existing connection', async () => {
  const { app } = await appWithBroker()
  const first = await app.call('POST', '/v1/broker/toolkits/gmail/connect', {})
  const second = await app.call('POST', '/v1/broker/toolkits/gmail/connect', { read_tools: ['GMAIL_LIST'] })
  expect(second).toMatchObject({ status: 200, body: { connection_id: first.body.connection_id } })
  const { config } = (await app.call('GET', `/v1/connections/${first.body.connection_id}`)).body
  expect(config).toEqual({ toolkit: 'gmail', read_tools: ['GMAIL_LIST'] })
})

test("a connection cannot use another tenant's account", async () => {
  const { app, server } = await appWithBroker()
  server.accounts.set('ca_theirs', { status: 'ACTIVE', user_id: 'prj_other' })
  const config = { toolkit: 'gmail', connected_account_id: 'ca_theirs' }
  const created = await app.call('POST', '/v1/connections', { kind: 'broker', name: 'gmail', config })
  expect(created.body).toMatchObject({ config: { toolkit: 'gmail' }, status: 'needs_authorisation' })
  const path = `/v1/connections/${created.body.id}`
  expect((await app.call('GET', `${path}/broker/status`)).body).toEqual({ status: 'INACTIVE', active: false })
  expect((await app.call('PUT', path, { config })).status).toBe(400)
  server.accounts.set('ca_theirs', { status: 'ACTIVE', user_id: created.body.project_id })
  expect((await app.call('GET', `${path}/broker/status`)).body).toEqual({ status: 'ACTIVE', active: true })
  expect((await app.call('PUT', path, { config: { ...config, read_tools: ['X'] } })).status).toBe(200)
  expect((await app.call('PUT', path, { config: { toolkit: 'gmail' } })).body.config).toEqual(config)
  expect((await app.call('PUT', path, { config: { toolkit: 'slack' } })).body.config).toEqual({ toolkit: 'slack' })
})

test('every broker route is 501 without BROKER_API_KEY', async () => {
  const app = await testApp({ store: 'sqlite' })
  const { id } = (
    await app.call('POST', '/v1/connections', { kind: 'broker', name: 'gmail', config: { toolkit: 'gmail' } })
  ).body
  const responses = await Promise.all([
    app.call('GET', '/v1/broker/toolkits'),
    app.call('POST', '/v1/broker/toolkits/gmail/connect', {}),
    app.call('POST', `/v1/connections/${id}/broker/connect`, {}),
    app.call('GET', `/v1/connections/${id}/broker/status`),
  ])
  for (const { status, body } of responses) {
    expect({ status, body }).toEqual({ status: 501, body: { error: 'broker is not configured: set BROKER_API_KEY' } })
  }
})

test('a broker that refuses or is unreachable is 502, and the API key is not shown', async () => {
  const { app, server } = await appWithBroker()
  const wrongKey = await testApp({ store: 'sqlite', env: { BROKER_API_KEY: 'other', BROKER_BASE_URL: server.url } })
  expect(await wrongKey.call('GET', '/v1/broker/toolkits')).toMatchObject({
    status: 502,
    body: { error: 'broker answered 401: bad key' },
  })
  const unreachable = await testApp({
    store: 'sqlite',
    env: { BROKER_API_KEY: 'broker-k3y', BROKER_BASE_URL: 'http://127.0.0.1:9' },
  })
  expect((await unreachable.call('GET', '/v1/broker/toolkits')).status).toBe(502)
  const { id } = (await app.call('POST', '/v1/connections', { kind: 'custom', name: 'crm' })).body
  expect((await app.call('POST', `/v1/connections/${id}/broker/connect`, {})).status).toBe(400)
})
