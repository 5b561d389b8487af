import { expect, test } from 'vitest'
import { anyStore, eachStore } from '../../app.ts'
import {
  auditLines,
  createAndGetId,
  type InboundResult,
  inboundMail,
  openChannelApp,
  sendInbound,
} from './channel-app.ts'

anyStore((store) => {
  test('the first message of a sender creates a client, a thread and a task', async () => {
    const app = await openChannelApp(store)
    const { task_id, thread_id, client_id } = await sendInbound(app, 'Ada@Example.com')
    const client = await app.call('GET', `/v1/clients/${client_id}`)
    expect(client.body).toMatchObject({ display_name: 'Ada', handles: ['Ada@Example.com'] })
    const task = await app.call('GET', `/v1/tasks/${task_id}`)
    expect(task.body).toMatchObject({ wedge: 'desk', task_type: 'triage', client_id, thread_id })
    expect(task.body.channel_id).toBe(app.channel)
    expect(task.body.input).toEqual({
      from: { handle: 'Ada@Example.com', name: 'Ada' },
      body: 'Where is my order?',
      subject: 'Order 7',
      thread_id,
    })
    const thread = await app.call('GET', `/v1/threads/${thread_id}`)
    expect(thread.body).toMatchObject({ client_id, channel_id: app.channel, subject: 'Order 7', status: 'open' })
    expect(thread.body.messages).toHaveLength(1)
    expect(thread.body.messages[0]).toMatchObject({
      direction: 'inbound',
      from: { handle: 'Ada@Example.com', name: 'Ada' },
      body: 'Where is my order?',
      task_id,
    })
    expect((await auditLines(app)).slice(1)).toEqual(['key client.created', 'key message.received'])
  })

  test('the next message of the same handle, regardless of case, goes to the open thread', async () => {
    const app = await openChannelApp(store)
    const first = await sendInbound(app, 'ada@example.com')
    const second = await sendInbound(app, 'ADA@example.COM', { body: 'Hello?', subject: null })
    expect(second).toMatchObject({ thread_id: first.thread_id, client_id: first.client_id })
    expect(second.task_id).not.toBe(first.task_id)
    const thread = await app.call('GET', `/v1/threads/${first.thread_id}`)
    expect(thread.body.messages.map(({ body }: { body: string }) => body)).toEqual(['Where is my order?', 'Hello?'])
    expect(thread.body.message_count).toBe(2)
  })

  test('a client has one open thread per channel, and gets a new one after a close', async () => {
    const app = await openChannelApp(store)
    const first = await sendInbound(app, 'ada@example.com')
    const channel = await createAndGetId(app, '/v1/channels', {
      connection_id: app.connection,
      address: 'second',
      wedge: 'other',
      task_type: 'triage',
    })
    const onOtherChannel = await sendInbound({ ...app, channel }, 'ada@example.com')
    expect(onOtherChannel.client_id).toBe(first.client_id)
    expect(onOtherChannel.thread_id).not.toBe(first.thread_id)
    await app.call('PUT', `/v1/threads/${first.thread_id}`, { status: 'closed' })
    const later = await sendInbound(app, 'ada@example.com')
    expect(later.thread_id).not.toBe(first.thread_id)
  })

  test('a repeated delivery with the same external id returns the same result and creates nothing', async () => {
    const app = await openChannelApp(store)
    const path = `/v1/channels/${app.channel}/inbound`
    const message = inboundMail('ada@example.com', { external_id: 'delivery-1' })
    const first = await app.call('POST', path, message)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const again = await app.call('POST', path, { ...message, from: { handle: 'eve@example.com' } })
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
    expect((await app.call('GET', '/v1/clients')).body.data).toHaveLength(1)
    const other = await app.call('POST', path, { ...message, external_id: 'delivery-2' })
    expect(other.body.task_id).not.toBe(first.body.task_id)
  })

  test('a message without a handle or a body returns 400, and an unknown channel 404 first', async () => {
    const app = await openChannelApp(store)
    const errorOf = async (body: object, channel = app.channel) =>
      (await app.call('POST', `/v1/channels/${channel}/inbound`, body)).body.error
    expect(await errorOf({ body: 'hi' })).toBe("field 'from' is required")
    expect(await errorOf({ from: { name: 'Ada' }, body: 'hi' })).toBe("field 'from.handle' is required")
    expect(await errorOf({ from: { handle: 'ada' } })).toBe("field 'body' is required")
    expect(await errorOf({}, 'chan_none')).toBe('no such channel')
    expect((await app.call('GET', '/v1/clients')).body.data).toEqual([])
  })
})

eachStore((store) => {
  test('twenty concurrent first messages of one handle create one client and one thread', async () => {
    const app = await openChannelApp(store)
    const handles = ['ada@example.com', 'ADA@example.com', 'Ada@Example.com', 'ada@EXAMPLE.com']
    const sent = Array.from({ length: 20 }, (_, i) => sendInbound(app, handles[i % 4] ?? '', { body: `message ${i}` }))
    const delivered = await Promise.all(sent)
    const kinds = (pick: (one: InboundResult) => string) => new Set(delivered.map(pick)).size
    expect(kinds((one) => one.client_id)).toBe(1)
    expect(kinds((one) => one.thread_id)).toBe(1)
    expect(kinds((one) => one.task_id)).toBe(20)
    expect((await app.call('GET', '/v1/clients')).body.data).toHaveLength(1)
    expect((await app.call('GET', '/v1/threads')).body.data).toHaveLength(1)
    const thread = await app.call('GET', `/v1/threads/${delivered[0]?.thread_id}`)
    expect(new Set(thread.body.messages.map(({ body }: { body: string }) => body)).size).toBe(20)
  })

  test('twenty concurrent first messages on two channels create one client', async () => {
    const app = await openChannelApp(store)
    const binding = { connection_id: app.connection, address: 'second', wedge: 'desk', task_type: 'triage' }
    const channel = await createAndGetId(app, '/v1/channels', binding)
    const sent = Array.from({ length: 20 }, (_, i) => sendInbound(i % 2 ? app : { ...app, channel }, 'ada@example.com'))
    expect(new Set((await Promise.all(sent)).map((one) => one.client_id)).size).toBe(1)
    expect((await app.call('GET', '/v1/threads')).body.data).toHaveLength(2)
  })

  test('twenty concurrent deliveries with one external id create one message', async () => {
    const app = await openChannelApp(store)
    const message = inboundMail('ada@example.com', { external_id: 'delivery-1' })
    const sent = Array.from({ length: 20 }, () => app.call('POST', `/v1/channels/${app.channel}/inbound`, message))
    const responses = await Promise.all(sent)
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
  })
})
