import { expect, test } from 'vitest'
import { anyStore, eachStore } from '../../app.ts'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import { openConversationApp } from './conversation-app.ts'

const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

anyStore((store) => {
  test('a hook needs a channel with an adapter, and the signature of its provider', async () => {
    const app = await openConversationApp(store)
    const post = (id: string, headers: Record<string, string>) =>
      app.call('POST', `/v1/hooks/${id}`, undefined, { key: null, headers, raw: '{}' })
    expect((await post('chan_none', {})).status).toBe(404)
    const binding = { connection_id: app.connection, address: 'a', wedge: 'desk', task_type: 'answer' }
    const plain = (await app.call('POST', '/v1/channels', binding)).body
    expect(plain).toMatchObject({ adapter: null, config: {}, settle_s: 0, hook_url: null, has_secret: false })
    expect((await post(plain.id, {})).status).toBe(404)
    expect((await post(app.channel, { 'x-telegram-bot-api-secret-token': 'wrong' })).status).toBe(401)
    const shown = (await app.call('GET', `/v1/channels/${app.channel}`)).body
    expect(shown).toMatchObject({ has_secret: true, hook_url: `https://desk.example/v1/hooks/${app.channel}` })
    expect(shown.last_error).toEqual(expect.any(String))
    await app.deliver(7, 'Hello')
    const works = (await app.call('GET', `/v1/channels/${app.channel}`)).body
    expect(works).toMatchObject({ last_error: null, last_received_at: expect.any(String) })
    expect(JSON.stringify(works)).not.toContain('the-secret')
  })

  test('a channel can be changed; its adapter and config are checked', async () => {
    const app = await openConversationApp(store)
    const change = (body: object) => app.call('PUT', `/v1/channels/${app.channel}`, body)
    expect((await change({ settle_s: 30, address: '@new' })).body).toMatchObject({
      settle_s: 30,
      address: '@new',
      adapter: 'telegram',
    })
    expect((await change({ adapter: 'none' })).status).toBe(400)
    expect((await change({ config: { unknown: 1 } })).status).toBe(400)
    expect((await change({ connection_id: 'conn_none' })).status).toBe(400)
    expect((await change({ adapter: null })).body).toMatchObject({ adapter: null, config: {} })
    expect((await app.call('POST', `/v1/channels/${app.channel}/secret`, { value: 'x' })).status).toBe(400)
  })

  test('a connection cannot name the secret of a channel as its own', async () => {
    const app = await openConversationApp(store)
    const stolen = { kind: 'custom', name: 'thief', config: { base_url: app.provider.url } }
    const secret_ref = `vault:${app.channel}`
    expect((await app.call('POST', '/v1/connections', { ...stolen, secret_ref })).status).toBe(400)
  })

  test('within the settle time, messages join the task that still waits', async () => {
    const app = await openConversationApp(store, { channel: { settle_s: 10 } })
    const first = (await app.deliver(7, 'One')).body
    await app.clock.advance(6_000)
    const second = (await app.deliver(7, 'Two')).body
    await app.clock.advance(6_000)
    const third = (await app.deliver(7, 'Three')).body
    expect([second, third]).toEqual([first, first])
    await app.clock.advance(6_000)
    const waiting = (await app.call('GET', `/v1/tasks/${first.task_id}`)).body
    expect(waiting).toMatchObject({ status: 'queued', input: { body: 'One\n\nTwo\n\nThree' } })
    expect(waiting.input.messages.map(({ body }: { body: string }) => body)).toEqual(['One', 'Two', 'Three'])
    await app.clock.advance(6_000)
    const approval = await app.pendingApproval(first.thread_id)
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    await app.finished(first.task_id)
    expect(app.sentTexts()).toEqual(['You wrote: One\n\nTwo\n\nThree'])
    expect((await app.deliver(7, 'Four')).body.task_id).not.toBe(first.task_id)
  })

  test('a person who takes the conversation over cancels the tasks that wait', async () => {
    const app = await openConversationApp(store, { channel: { settle_s: 10 } })
    const { task_id, thread_id } = (await app.deliver(7, 'One')).body
    const held = await app.change(thread_id, { held_by: 'me' })
    expect(held).toMatchObject({ held_by: { kind: 'key' }, unanswered: { reason: 'held' } })
    expect(await app.finished(task_id)).toMatchObject({ status: 'cancelled' })
    expect((await app.deliver(7, 'Two')).body).toMatchObject({ task_id: null, thread_id })
    expect(idsOf((await app.call('GET', '/v1/threads?held_by=me')).body)).toEqual([thread_id])
    expect((await app.call('GET', '/v1/tasks?status=queued')).body.data).toEqual([])
    await app.change(thread_id, { held_by: null })
    const { body: started } = await app.call('POST', `/v1/threads/${thread_id}/tasks`)
    expect(started.input).toMatchObject({ body: 'One\n\nTwo' })
  })

  test('after 60 messages within an hour no more tasks start, because a program may be writing', async () => {
    const app = await openConversationApp(store, { channel: { settle_s: 3600 } })
    for (let n = 0; n < 60; n++) await app.deliver(1, `Message ${n}`)
    const refused = (await app.deliver(1, 'One more')).body
    expect(refused.task_id).toBeNull()
    expect(await app.thread(refused.thread_id)).toMatchObject({
      message_count: 61,
      unanswered: { reason: 'too_many_messages' },
    })
    app.clock.jump(3_600_001)
    expect((await app.deliver(1, 'Later')).body.task_id).not.toBeNull()
  })

  test('threads are listed by activity, with what the team has not read', async () => {
    const app = await openConversationApp(store)
    const threads = []
    for (const chat of [1, 2, 3]) {
      threads.push((await app.deliver(chat, `Hello from ${chat}`)).body.thread_id)
      await app.clock.advance(1_000)
    }
    const [a, b, c] = threads
    await app.deliver(1, 'Again')
    const list = async (query: string) => (await app.call('GET', `/v1/threads?${query}`)).body
    const first = await list('order=activity&limit=2')
    expect(idsOf(first)).toEqual([a, c])
    expect(first.data[0]).toMatchObject({
      unread: 2,
      client_name: 'Ada',
      last_message: { direction: 'inbound', body: 'Again', from: { handle: 'telegram:1', name: 'Ada' } },
      channel: { id: app.channel, address: '@desk', adapter: 'telegram' },
    })
    expect(idsOf(await list(`order=activity&limit=2&cursor=${first.next_cursor}`))).toEqual([b])
    expect((await app.call('GET', `/v1/threads?cursor=${first.next_cursor}`)).status).toBe(400)
    expect(idsOf(await list('order=activity&q=hello%20from%202'))).toEqual([b])
    expect(idsOf(await list('q=100%25'))).toEqual([])
    await app.change(a, { read: true })
    expect(idsOf(await list('unread=true'))).toEqual([c, b])
    expect((await app.thread(a)).unread).toBe(0)
  })

  test('an answer of a member has the name of its author', async () => {
    const app = await openConversationApp(store)
    const { thread_id } = (await app.deliver(7, 'Hello')).body
    const owner = await signUpOwner(app)
    const { session } = await addMember(app, owner, 'operator')
    const sent = await app.call('POST', `/v1/threads/${thread_id}/messages`, { body: 'Hi' }, { key: session })
    expect(sent).toMatchObject({ status: 201, body: { author: { kind: 'member', name: expect.any(String) } } })
    expect((await app.thread(thread_id)).messages.at(-1)).toEqual(sent.body)
  })

  test('a message has the files that came with it, and its task too', async () => {
    const app = await openConversationApp(store)
    const binding = { connection_id: app.connection, address: 'a', wedge: 'desk', task_type: 'answer' }
    const channel = (await app.call('POST', '/v1/channels', binding)).body.id
    const post = (body: object) =>
      app.call('POST', `/v1/channels/${channel}/inbound`, { from: { handle: 'ada@example.com' }, body: 'See', ...body })
    expect((await post({ files: ['file_none'] })).status).toBe(400)
    expect((await app.call('GET', '/v1/clients')).body.data).toEqual([])
  })
})

eachStore((store) => {
  test('50 deliveries of one message at once make one message and one task', async () => {
    const app = await openConversationApp(store)
    const received = await Promise.all(Array.from({ length: 50 }, () => app.deliver(7, 'Hello', 99)))
    expect(new Set(received.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(received.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    const { thread_id } = received[0]?.body ?? {}
    expect((await app.thread(thread_id)).message_count).toBe(1)
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
  })

  test('a thread has one run at a time, in the order of its messages', async () => {
    const app = await openConversationApp(store)
    const received = []
    for (const text of ['One', 'Two', 'Three']) {
      received.push((await app.deliver(7, text)).body)
      // Tasks of one millisecond have no order.
      await app.clock.advance(1)
    }
    const other = (await app.deliver(8, 'Other')).body
    await app.pendingApproval(other.thread_id)
    for (const { task_id, thread_id } of received) {
      const approval = await app.pendingApproval(thread_id)
      const { tasks } = await app.thread(thread_id)
      const begun = tasks.filter(({ status }: { status: string }) => !/queued|succeeded/.test(status))
      expect(begun).toMatchObject([{ id: task_id, status: 'awaiting_approval' }])
      await app.call('POST', `/v1/approvals/${approval}/approve`)
      await app.finished(task_id)
      await app.clock.advance(1_000)
    }
    expect(app.sentTexts()).toEqual(['You wrote: One', 'You wrote: Two', 'You wrote: Three'])
  })
})
