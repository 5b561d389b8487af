import { expect, test } from 'vitest'
import { anyStore, type TestApp } from '../../app.ts'
import { createAndGetId, openChannelApp } from './channel-app.ts'

const ORIGINS = { origins: ['https://shop.example'] }

/** A service with one connection of each kind that a founder may choose by mistake. */
async function openConnectionsApp(store: Parameters<typeof openChannelApp>[0]) {
  const app = await openChannelApp(store)
  const connect = (name: string, kind: string, config: object) =>
    createAndGetId(app, '/v1/connections', { name, kind, config })
  const from = 'Desk <help@desk.example>'
  const connections = {
    bot: await connect('bot', 'custom', { base_url: 'https://api.example.com' }),
    resend: await connect('resend', 'email', { provider: 'resend', from }),
    postmark: await connect('postmark', 'email', { provider: 'postmark', from }),
    alerts: await connect('alerts', 'webhook', { url: 'https://hooks.example.com' }),
  }
  const create = (adapter: string | null, connection: keyof typeof connections, more: object = {}) =>
    app.call('POST', '/v1/channels', {
      connection_id: connections[connection],
      address: `${adapter} of ${connection}`,
      wedge: 'desk',
      task_type: 'triage',
      adapter,
      ...more,
    })
  return { ...app, connections, create }
}

const changeChannel = (app: Pick<TestApp, 'call'>, id: string, body: object) =>
  app.call('PUT', `/v1/channels/${id}`, body)

anyStore((store) => {
  test('a channel gets another adapter, without the secret and error of the old one, until it has conversations', async () => {
    const app = await openConnectionsApp(store)
    const { id } = (await app.create('telegram', 'bot')).body
    await app.call('POST', `/v1/channels/${id}/secret`, { value: 'the-telegram-secret' })
    await app.call('POST', `/v1/hooks/${id}`, {}, { key: null })
    expect((await app.call('GET', `/v1/channels/${id}`)).body).toMatchObject({ last_error: expect.any(String) })
    const slack = (await changeChannel(app, id, { adapter: 'slack' })).body
    expect(slack).toMatchObject({ adapter: 'slack', has_secret: false, last_error: null })
    expect((await app.call('GET', `/v1/channels/${id}`)).body).toMatchObject({ adapter: 'slack', has_secret: false })
    const message = { from: { handle: 'ada' }, body: 'Hello' }
    await app.call('POST', `/v1/channels/${id}/inbound`, message)
    expect((await changeChannel(app, id, { adapter: 'telegram' })).status).toBe(409)
    expect((await changeChannel(app, id, { adapter: null })).status).toBe(200)
  })

  test('a new secret removes the error of the old one', async () => {
    const app = await openConnectionsApp(store)
    const { id } = (await app.create('telegram', 'bot')).body
    await app.call('POST', `/v1/hooks/${id}`, {}, { key: null })
    expect((await app.call('GET', `/v1/channels/${id}`)).body.last_error).toBe('the hook has no secret yet')
    const stored = (await app.call('POST', `/v1/channels/${id}/secret`, { value: 'right' })).body
    expect(stored).toMatchObject({ has_secret: true, last_error: null, last_error_at: null })
  })

  test('a call of the widget from another page does not make the channel fail', async () => {
    const app = await openConnectionsApp(store)
    const { id } = (await app.create('widget', 'bot', { config: ORIGINS })).body
    const call = { visitor: 'a-long-random-key-of-the-browser', body: 'Hello' }
    const headers = { origin: 'https://elsewhere.example' }
    expect((await app.call('POST', `/v1/hooks/${id}`, call, { key: null, headers })).status).toBe(403)
    expect((await app.call('GET', `/v1/channels/${id}`)).body.last_error).toBe(null)
    const { data } = (await app.call('GET', '/v1/needs-you')).body
    expect(data.filter(({ kind }: { kind: string }) => kind === 'channel')).toEqual([])
  })
})
