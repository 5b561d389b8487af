import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { openTableLock } from '../../faults/table-lock.ts'
import {
  auditLines,
  createAndGetId,
  inboundMail,
  openChannelApp,
  otherOrganisationSession,
  projectIdOf,
  sendInbound,
} from './channel-app.ts'

anyStore((store) => {
  test('a channel binds an address to a wedge and a task type, and all four fields are required', async () => {
    const app = await openChannelApp(store)
    const channel = { connection_id: app.connection, address: 'a@desk.example', wedge: 'desk', task_type: 'close' }
    const response = await app.call('POST', '/v1/channels', channel)
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/v1/channels/${response.body.id}`)
    expect(response.body).toMatchObject(channel)
    for (const field of Object.keys(channel)) {
      const { status, body } = await app.call('POST', '/v1/channels', { ...channel, [field]: undefined })
      expect({ status, body }).toEqual({ status: 400, body: { error: `field '${field}' is required` } })
    }
    const listed = await app.call('GET', '/v1/channels')
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(response.body.id)
    expect((await auditLines(app)).at(-1)).toBe('key channel.created')
  })

  test('the connection, wedge and task type of a channel must exist, and the wedge must be enabled', async () => {
    const app = await openChannelApp(store)
    const channel = { connection_id: app.connection, address: 'a@desk.example', wedge: 'desk', task_type: 'close' }
    const errorOf = async (more: object) => {
      const { status, body } = await app.call('POST', '/v1/channels', { ...channel, ...more })
      return [status, body.error]
    }
    expect(await errorOf({ connection_id: 'conn_none' })).toEqual([400, 'unknown connection'])
    expect(await errorOf({ wedge: 'none' })).toEqual([400, "unknown wedge 'none'"])
    expect(await errorOf({ task_type: 'none' })).toEqual([400, "unknown task type 'none' of wedge 'desk'"])
    await app.call('PUT', `/v1/projects/${await projectIdOf(app)}`, { wedges: ['desk'] })
    expect(await errorOf({ wedge: 'other', task_type: 'triage' })).toEqual([
      403,
      "wedge 'other' is not enabled for this project",
    ])
  })

  test('a channel refuses a task type whose input schema no message of its adapter matches', async () => {
    const app = await openChannelApp(store)
    const errorOf = async (task_type: string, more: object = {}) => {
      const channel = { connection_id: app.connection, address: 'a@desk.example', wedge: 'forms', task_type, ...more }
      const { status, body } = await app.call('POST', '/v1/channels', channel)
      return status === 201 ? 201 : [status, body.error]
    }
    const widget = { adapter: 'widget', config: { origins: ['https://shop.example'] } }
    const message = 'and the input of a message is {from: {handle, name}, subject, body, thread_id}'
    expect(await errorOf('text')).toEqual([
      400,
      `field 'task_type' must be a task type that takes messages: 'input.text' of 'text' is required, ${message}`,
    ])
    expect(await errorOf('order')).toEqual([
      400,
      `field 'task_type' must be a task type that takes messages: 'input.order_id' of 'order' is required, ${message}`,
    ])
    expect(await errorOf('subject')).toBe(201)
    expect(await errorOf('subject', widget)).toEqual([
      400,
      `field 'task_type' must be a task type that takes messages: 'input.subject' of 'subject' must be string, not null, ` +
        `${message}, where the subject is null for the adapter 'widget'`,
    ])
    expect(await errorOf('message')).toBe(201)
    expect(await errorOf('message', widget)).toBe(201)
    const change = (fields: object) => app.call('PUT', `/v1/channels/${app.channel}`, fields)
    expect(await change({ wedge: 'forms', task_type: 'order' })).toMatchObject({ status: 400 })
    expect(await change({ wedge: 'forms', task_type: 'message' })).toMatchObject({ status: 200 })
  })

  test('a deleted channel accepts no messages, and its threads are kept', async () => {
    const app = await openChannelApp(store)
    const { thread_id, client_id } = await sendInbound(app, 'ada@example.com')
    expect((await app.call('DELETE', `/v1/channels/${app.channel}`)).status).toBe(204)
    const { status, body } = await app.call(
      'POST',
      `/v1/channels/${app.channel}/inbound`,
      inboundMail('ada@example.com'),
    )
    expect({ status, body }).toEqual({ status: 404, body: { error: 'no such channel' } })
    expect((await app.call('DELETE', `/v1/channels/${app.channel}`)).status).toBe(404)
    expect((await app.call('GET', `/v1/threads/${thread_id}`)).body.client_id).toBe(client_id)
  })

  test('a connection cannot be deleted while a channel uses it', async () => {
    const app = await openChannelApp(store)
    const path = `/v1/connections/${app.connection}`
    const { status, body } = await app.call('DELETE', path)
    const error = `connection is used by channel ${app.channel} (help@desk.example): delete the channel first`
    expect({ status, body }).toEqual({ status: 409, body: { error } })
    expect((await app.call('GET', path)).body.name).toBe('mail')
    await app.call('DELETE', `/v1/channels/${app.channel}`)
    expect((await app.call('DELETE', path)).status).toBe(204)
  })

  test('another organisation gets 404 for channels, clients and threads', async () => {
    const app = await openChannelApp(store)
    const { client_id, thread_id } = await sendInbound(app, 'ada@example.com')
    const key = await otherOrganisationSession(app)
    for (const [method, path, body] of [
      ['DELETE', `channels/${app.channel}`],
      ['POST', `channels/${app.channel}/inbound`, {}],
      ['GET', `clients/${client_id}`],
      ['PUT', `clients/${client_id}`, { display_name: 7 }],
      ['POST', `clients/${client_id}/portal-link`],
      ['POST', `clients/${client_id}/portal-revoke`],
      ['GET', `threads/${thread_id}`],
      ['PUT', `threads/${thread_id}`, {}],
    ] as const) {
      expect([path, (await app.call(method, `/v1/${path}`, body, { key })).status]).toEqual([path, 404])
    }
    for (const list of ['channels', 'clients', 'threads']) {
      expect((await app.call('GET', `/v1/${list}`, undefined, { key })).body.data).toEqual([])
    }
    const channelOfOther = { connection_id: app.connection, address: 'x', wedge: 'desk', task_type: 'triage' }
    const response = await app.call('POST', '/v1/channels', channelOfOther, { key })
    expect(response.body).toEqual({ error: 'unknown connection' })
  })

  test('an operator can post inbound messages but not create channels', async () => {
    const app = await openChannelApp(store)
    const { key } = (await app.call('POST', '/v1/keys', { name: 'desk', role: 'operator' })).body
    const channel = { connection_id: app.connection, address: 'a', wedge: 'desk', task_type: 'close' }
    expect((await app.call('POST', '/v1/channels', channel, { key })).status).toBe(403)
    const path = `/v1/channels/${app.channel}/inbound`
    expect((await app.call('POST', path, inboundMail('a@example.com'), { key })).status).toBe(201)
    expect(await createAndGetId(app, '/v1/clients', {})).toMatch(/^cli_/)
  })
})

test('a channel cannot be bound to a connection that is being deleted', async () => {
  const app = await openChannelApp('postgres')
  const connection_id = await createAndGetId(app, '/v1/connections', { kind: 'email', name: 'second' })
  const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
  await hold('connections')
  const deleting = app.call('DELETE', `/v1/connections/${connection_id}`)
  await waitForBlocked(1)
  const channel = { connection_id, address: 'a@desk.example', wedge: 'desk', task_type: 'close' }
  const binding = app.call('POST', '/v1/channels', channel)
  await waitForBlocked(2)
  await release()
  expect((await deleting).status).toBe(204)
  expect(await binding).toMatchObject({ status: 400, body: { error: 'unknown connection' } })
})
