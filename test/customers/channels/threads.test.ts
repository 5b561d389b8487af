import { expect, test } from 'vitest'
import { appendTaskReply, recordSentMail } from '../../../src/customers/threads/reply.ts'
import { readThreadHistory } from '../../../src/customers/threads/thread-history.ts'
import { inTx, type Tx } from '../../../src/platform/ctx/ctx.ts'
import type { TaskRow } from '../../../src/platform/store/tables.ts'
import { findTaskUnscoped } from '../../../src/work/tasks/rows.ts'
import { anyStore, eachStore } from '../../app.ts'
import { addFile } from '../../work/files/add-file.ts'
import { readEventStream } from '../../http.ts'
import { auditLines, type ChannelApp, openChannelApp, openPortal, sendInbound } from './channel-app.ts'

anyStore((store) => {
  test('the reply of a task becomes an outbound message of its thread', async () => {
    const app = await openChannelApp(store, 'reply')
    const { task_id, thread_id } = await sendInbound(app, 'ada@example.com')
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded' })
    const { messages } = (await app.call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages).toHaveLength(2)
    const body = 'You wrote: Where is my order?'
    expect(messages[1]).toMatchObject({ direction: 'outbound', from: null, body, task_id })
  })

  test('a mail of the task is stored in its thread, and the client sees only mails to their own addresses', async () => {
    const app = await openChannelApp(store)
    const { task_id, thread_id, portal } = await openPortal(app, 'ada@example.com')
    const file = await addFile(app, 'label.txt', 'Parcel 7')
    const toAda = {
      body: 'It left on Monday.',
      subject: 'Re: Order 7',
      to: 'Ada <ADA@example.com>',
      files: [file.id],
    }
    const toDepot = { body: 'Is she a fraud?', subject: 'Order 7', to: ['depot@desk.example'], files: [] }
    await asTask(app, task_id, async (tx, task) => {
      await recordSentMail(tx, task, toDepot)
      await recordSentMail(tx, task, toAda)
      await appendTaskReply(tx, task, ' It left on Monday. ')
      await appendTaskReply(tx, task, 'Is she a fraud?')
    })
    const bodies = (response: { body: { messages: { body: string }[] } }) =>
      response.body.messages.map(({ body }) => body)
    const founders = await app.call('GET', `/v1/threads/${thread_id}`)
    expect(bodies(founders).slice(1)).toEqual(['Is she a fraud?', 'It left on Monday.', 'Is she a fraud?'])
    expect(founders.body.messages[1].to).toEqual(['depot@desk.example'])
    expect(founders.body.messages[2].files).toMatchObject([{ id: file.id, name: 'label.txt' }])
    expect(bodies(await portal('GET', `threads/${thread_id}`)).slice(1)).toEqual([
      'It left on Monday.',
      'Is she a fraud?',
    ])
  })

  test('a reply of a member is visible to the client, notifies the console and is in the audit log', async () => {
    const app = await openChannelApp(store)
    const { thread_id, portal } = await openPortal(app, 'ada@example.com')
    const notified = readEventStream(`${app.url}/v1/stream`, app.key, 0, ({ data }) => data.kind === 'thread')
    await readEventStream(`${app.url}/v1/stream`, app.key, 0, ({ event }) => event === 'ready')
    const path = `/v1/threads/${thread_id}/messages`
    const reply = await app.call('POST', path, { body: ' It left on Monday.\n' })
    expect(reply).toMatchObject({ status: 201, body: { direction: 'outbound', from: null, to: null, task_id: null } })
    expect(reply.body.body).toBe('It left on Monday.')
    expect(reply.headers.get('location')).toBe(`/v1/threads/${thread_id}`)
    expect((await notified).at(-1)?.data).toMatchObject({ kind: 'thread', id: thread_id, status: 'open' })
    const { messages } = (await portal('GET', `threads/${thread_id}`)).body
    expect(messages.at(-1)).toMatchObject({ id: reply.body.id, direction: 'outbound', body: 'It left on Monday.' })
    expect((await readThreadHistory(app.ctx.db, thread_id)).at(-1)).toMatchObject({
      direction: 'outbound',
      from: 'us',
    })
    expect((await auditLines(app)).at(-1)).toBe('key thread.replied')
  })

  test('a reply has 1 to 20,000 characters, and a closed thread accepts none', async () => {
    const app = await openChannelApp(store)
    const { thread_id } = await sendInbound(app, 'ada@example.com')
    const say = (body: unknown) => app.call('POST', `/v1/threads/${thread_id}/messages`, { body })
    for (const body of ['', ' \n ', 'x'.repeat(20_001), 1]) expect((await say(body)).status).toBe(400)
    expect((await say('x'.repeat(20_000))).status).toBe(201)
    await app.call('PUT', `/v1/threads/${thread_id}`, { status: 'closed' })
    expect(await say('Still there?')).toMatchObject({ status: 409, body: { error: 'thread is closed' } })
    const { body: thread } = await app.call('GET', `/v1/threads/${thread_id}`)
    expect([thread.message_count, thread.messages.length]).toEqual([2, 2])
    expect((await app.call('POST', '/v1/threads/thr_none/messages', { body: 'x' })).status).toBe(404)
  })

  test('a thread with long messages returns the newest few and the total number', async () => {
    const app = await openChannelApp(store)
    const { thread_id } = await sendInbound(app, 'ada@example.com')
    for (const n of [1, 2, 3, 4, 5, 6])
      await sendInbound(app, 'ada@example.com', { body: `${n}${'x'.repeat(999_999)}` })
    const { message_count, messages } = (await app.call('GET', `/v1/threads/${thread_id}`)).body
    expect(message_count).toBe(7)
    expect(messages.map(({ body }: { body: string }) => body[0])).toEqual(['2', '3', '4', '5', '6'])
  })

  test('the history of a thread has the newest messages that fit, oldest first', async () => {
    const app = await openChannelApp(store)
    const { task_id, thread_id } = await sendInbound(app, 'ada@example.com', { body: 'first' })
    await asTask(app, task_id, (tx, task) => appendTaskReply(tx, task, 'second'))
    await sendInbound(app, 'ada@example.com', { body: 'third', from: { handle: 'ada@example.com', name: 'A\n\nda' } })
    const history = await readThreadHistory(app.ctx.db, thread_id)
    expect(history.map(({ direction, from, body }) => [direction, from, body])).toEqual([
      ['inbound', 'Ada <ada@example.com>', 'first'],
      ['outbound', 'us', 'second'],
      ['inbound', 'A da <ada@example.com>', 'third'],
    ])
    const bodies = async (messages: number, characters: number) =>
      (await readThreadHistory(app.ctx.db, thread_id, { messages, characters })).map(({ body }) => body)
    expect(await bodies(2, 1000)).toEqual(['second', 'third'])
    expect(await bodies(50, 12)).toEqual(['second', 'third'])
    expect(await bodies(50, 3)).toEqual(['thi\n[cut: 5 characters in total]'])
  })

  test('threads are listed by client, channel and status', async () => {
    const app = await openChannelApp(store)
    const ada = await sendInbound(app, 'ada@example.com')
    await app.clock.advance(10)
    const bob = await sendInbound(app, 'bob@example.com')
    await app.call('PUT', `/v1/threads/${bob.thread_id}`, { status: 'closed' })
    const ids = async (query: string) =>
      (await app.call('GET', `/v1/threads${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await ids(`?client_id=${ada.client_id}`)).toEqual([ada.thread_id])
    expect(await ids('?status=closed')).toEqual([bob.thread_id])
    expect(await ids(`?channel_id=${app.channel}&status=open`)).toEqual([ada.thread_id])
    expect(await ids('?channel_id=chan_none')).toEqual([])
    expect((await app.call('GET', '/v1/threads?status=lost')).status).toBe(400)
    expect((await app.call('GET', '/v1/threads/thr_none')).body).toEqual({ error: 'no such thread' })
  })
})

eachStore((store) => {
  test('a closed thread can be reopened unless the client has another open thread', async () => {
    const app = await openChannelApp(store)
    const { thread_id } = await sendInbound(app, 'ada@example.com')
    const put = (id: string, status: string) => app.call('PUT', `/v1/threads/${id}`, { status })
    expect((await put(thread_id, 'closed')).body.status).toBe('closed')
    expect((await put(thread_id, 'closed')).status).toBe(200)
    expect((await put(thread_id, 'open')).body.status).toBe('open')
    expect((await put(thread_id, 'open')).status).toBe(200)
    await put(thread_id, 'closed')
    const later = await sendInbound(app, 'ada@example.com')
    expect((await put(thread_id, 'open')).body).toEqual({ error: 'client has another open thread on this channel' })
    await put(later.thread_id, 'closed')
    const both = await Promise.all([put(thread_id, 'open'), put(later.thread_id, 'open')])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect((await auditLines(app)).filter((line) => line === 'key thread.closed')).toHaveLength(3)
  })
})

async function asTask(app: ChannelApp, id: string, work: (tx: Tx, task: TaskRow) => Promise<void>): Promise<void> {
  await inTx(app.ctx, async (tx) => {
    const task = await findTaskUnscoped(tx.db, id)
    if (task) await work(tx, task)
  })
}
