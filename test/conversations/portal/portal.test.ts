import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { appendEvents } from '../../../src/work/events/append-events.ts'
import type { NewEvent } from '../../../src/work/events/event-types.ts'
import { StreamResponse } from '../../../src/platform/http/route.ts'
import { writeTaskEnding } from '../../../src/approvals/lifecycle/task-ending.ts'
import { revocablePortalStream } from '../../../src/conversations/portal/stream.ts'
import { insertArtifact, insertArtifactFile } from '../../../src/work/tasks/rows.ts'
import { anyStore, eachStore } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import {
  auditLines,
  type ChannelApp,
  insertRunningTask,
  openChannelApp,
  openPortal,
  projectIdOf,
} from '../../customers/channels/channel-app.ts'

anyStore((store) => {
  test('a client reads its own threads, without internal fields', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    await openPortal(app, 'bob@example.com')
    const { data } = (await ada.portal('GET', 'threads')).body
    const [thread, ...others] = data
    expect(others).toEqual([])
    expect(Object.keys(thread)).toEqual([
      'id',
      'subject',
      'status',
      'created_at',
      'updated_at',
      'unread',
      'last_message',
    ])
    expect(thread).toMatchObject({ id: ada.thread_id, subject: 'Order 7', status: 'open' })
    const whole = (await ada.portal('GET', `threads/${ada.thread_id}`)).body
    expect(Object.keys(whole)).toEqual([...Object.keys(thread), 'messages'])
    expect(Object.keys(whole.messages[0])).toEqual([
      'id',
      'direction',
      'from',
      'body',
      'subject',
      'task_id',
      'author',
      'files',
      'created_at',
    ])
  })

  test('a message of the client is added to the thread and starts a task of its channel', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const response = await ada.portal('POST', `threads/${ada.thread_id}/messages`, { body: 'Any news?' })
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({ direction: 'inbound', body: 'Any news?' })
    const task = (await app.call('GET', `/v1/tasks/${response.body.task_id}`)).body
    expect(task).toMatchObject({ wedge: 'desk', task_type: 'triage', client_id: ada.client_id })
    expect(task).toMatchObject({ thread_id: ada.thread_id, channel_id: app.channel })
    expect(task.input).toMatchObject({ from: { handle: 'ada@example.com', name: 'Ada' }, body: 'Any news?' })
    const { messages } = (await app.call('GET', `/v1/threads/${ada.thread_id}`)).body
    expect(messages.at(-1)).toMatchObject({ id: response.body.id, task_id: task.id })
    expect((await auditLines(app)).at(-1)).toBe('client message.posted')
    expect(await app.ctx.db.selectFrom('knowledge').selectAll().execute()).toEqual([])
  })

  test('a message has at most 10,000 characters, and at least one', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const post = (body: unknown) => ada.portal('POST', `threads/${ada.thread_id}/messages`, { body })
    expect((await post('😀'.repeat(10_000))).status).toBe(201)
    const long = await post('😀'.repeat(10_001))
    expect([long.status, long.body]).toEqual([413, { error: 'message is longer than 10,000 characters' }])
    for (const empty of ['', ' \n', 7, undefined]) expect((await post(empty)).status).toBe(400)
  })

  test('a thread that is closed or whose channel was removed accepts no messages', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const post = () => ada.portal('POST', `threads/${ada.thread_id}/messages`, { body: 'Any news?' })
    await app.call('PUT', `/v1/threads/${ada.thread_id}`, { status: 'closed' })
    expect((await post()).body).toEqual({ error: 'thread is closed' })
    await app.call('PUT', `/v1/threads/${ada.thread_id}`, { status: 'open' })
    const project = await projectIdOf(app)
    await app.call('PUT', `/v1/projects/${project}`, { wedges: [] })
    expect((await post()).body).toEqual({ error: 'thread does not accept messages' })
    await app.call('PUT', `/v1/projects/${project}`, { wedges: null })
    await app.call('DELETE', `/v1/channels/${app.channel}`)
    expect((await post()).body).toEqual({ error: 'thread does not accept messages' })
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
  })

  test('a client follows the log of its task, replayed and live, without internal events', async () => {
    const app = await openChannelApp(store)
    const { client_id, key } = await openPortal(app, 'ada@example.com')
    const task = await insertRunningTask(app, client_id)
    const path = `/v1/portal/tasks/${task}/events`
    const live = app.events(task, { path, key })
    await expect.poll(() => app.ctx.logFollowers.isFollowed(task)).toBe(true)
    await inTx(app.ctx, (tx) => appendEvents(tx, { taskId: task, epoch: 0 }, EVENTS))
    await inTx(app.ctx, (tx) => writeTaskEnding(tx, task, { status: 'succeeded', output: {}, events: [] }))
    const readable = ['task.created', 'progress', 'artifact.created', 'task.finished']
    expect((await live).map(({ event }) => event)).toEqual(readable)
    expect((await app.events(task, { path, key })).map(({ event }) => event)).toEqual(readable)
    const rest = await app.events(task, { path, key, after: 2 })
    expect(rest.map(({ event }) => event)).toEqual(['artifact.created', 'task.finished'])
  })

  test('a stream ends when the access of its client is revoked', async () => {
    const app = await openChannelApp(store)
    const { client_id, key } = await openPortal(app, 'ada@example.com')
    const task = await insertRunningTask(app, client_id)
    const live = app.events(task, { path: `/v1/portal/tasks/${task}/events`, key })
    await expect.poll(() => app.ctx.logFollowers.isFollowed(task)).toBe(true)
    await app.call('POST', `/v1/clients/${client_id}/portal-revoke`)
    expect(await live).toEqual([])
  })

  test('a stream ends when the session of its client has expired', async () => {
    const app = await openChannelApp(store)
    const { client_id, key } = await openPortal(app, 'ada@example.com')
    const task = await insertRunningTask(app, client_id)
    const live = app.events(task, { path: `/v1/portal/tasks/${task}/events`, key })
    await expect.poll(() => app.ctx.logFollowers.isFollowed(task)).toBe(true)
    const expires_at = new Date(app.clock.now()).toISOString()
    await inTx(app.ctx, (tx) => tx.db.updateTable('client_sessions').set({ expires_at }).execute())
    expect(await advanceUntilSettled(app, live)).toEqual([])
  })

  test('a stream that is revoked between request and start sends no event', async () => {
    const app = await openChannelApp(store)
    const { client_id, key } = await openPortal(app, 'ada@example.com')
    const scope = {
      actor: { kind: 'client', id: client_id },
      projectId: await projectIdOf(app),
      clientId: client_id,
    } as const
    let started = false
    const log = new StreamResponse({}, async () => void (started = true))
    const response = revocablePortalStream(app.ctx, scope, { headers: { authorization: `Bearer ${key}` } }, log)
    await app.call('POST', `/v1/clients/${client_id}/portal-revoke`)
    const out = new ServerResponse(new IncomingMessage(new Socket()))
    await response.write(out)
    expect([started, out.writableEnded]).toEqual([false, true])
  })

  test('a client fetches the artifacts of its own tasks', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const artifact = await addArtifact(app, ada.task_id)
    const response = await ada.portal('GET', `artifacts/${artifact}`)
    expect([response.status, response.body]).toEqual([200, 'for Ada'])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('a client reads its own cases, without the data of the founder', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const own = await addCase(app, ada.client_id)
    await addCase(app, null)
    const { data } = (await ada.portal('GET', 'cases')).body
    expect(data.map(({ id }: { id: string }) => id)).toEqual([own])
    const fields = ['id', 'title', 'stage', 'status', 'created_at', 'updated_at', 'closed_at']
    expect(Object.keys(data[0])).toEqual(fields)
    expect((await bob.portal('GET', 'cases')).body.data).toEqual([])
  })

  test('data of another client returns 404', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const artifact = await addArtifact(app, ada.task_id)
    const founders = (await app.call('POST', '/v1/tasks', { wedge: 'desk', task_type: 'triage' })).body.id
    const statusOf = async (method: string, path: string) => (await bob.portal(method, path, undefined)).status
    expect(await statusOf('GET', `threads/${ada.thread_id}`)).toBe(404)
    expect(await statusOf('POST', `threads/${ada.thread_id}/messages`)).toBe(404)
    expect(await statusOf('GET', `tasks/${ada.task_id}/events`)).toBe(404)
    expect(await statusOf('GET', `tasks/${founders}/events`)).toBe(404)
    expect(await statusOf('GET', `artifacts/${artifact}`)).toBe(404)
    const absent = await bob.portal('GET', 'threads/thr_none')
    expect(absent.body).toEqual((await bob.portal('GET', `threads/${ada.thread_id}`)).body)
  })
})

eachStore((store) => {
  test('a client can post 30 messages a minute, independent of other clients', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const post = (who: typeof ada) => who.portal('POST', `threads/${who.thread_id}/messages`, { body: 'hello' })
    const responses = await Promise.all(Array.from({ length: 31 }, () => post(ada)))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(30)
    const refused = responses.find(({ status }) => status !== 201)
    expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await post(bob)).status).toBe(201)
    await app.clock.advance(60_000)
    expect((await post(ada)).status).toBe(201)
  })
})

/** One event of each type that a client must not see, between events that it may see. */
const EVENTS: NewEvent[] = [
  {
    type: 'task.created',
    data: { wedge: 'desk', task_type: 'triage', status: 'running', sandbox: 'none', model: 'none' },
  },
  { type: 'progress', data: { text: 'looking' } },
  { type: 'token.delta', data: { text: 'It' } },
  {
    type: 'cost.charged',
    data: { model: 'm', input_tokens: 1, output_tokens: 1, cost_usd: 0.1, total_usd: 0.1 },
  },
  {
    type: 'approval.requested',
    data: { approval_id: 'apr_1', action: 'mail:send', risk: 'high', preview: {}, expires_at: '' },
  },
  { type: 'approval.resolved', data: { approval_id: 'apr_1', action: 'mail:send', decision: 'approved' } },
  { type: 'feedback.recorded', data: { source: 'approval', knowledge_id: null } },
  {
    type: 'artifact.created',
    data: {
      artifact_id: 'art_1',
      name: 'client/a.txt',
      content_type: 'text/plain',
      size: 1,
      url: '/v1/artifacts/art_1',
    },
  },
]

async function addArtifact(app: ChannelApp, taskId: string): Promise<string> {
  const id = app.ctx.world.newId('art')
  const project_id = await projectIdOf(app)
  const content = Buffer.from('for Ada').toString('base64')
  const file = {
    name: 'client/a.txt',
    content_type: 'text/plain',
    size: 7,
    storage: 'database' as const,
    created_at: '',
  }
  await inTx(app.ctx, async (tx) => {
    await insertArtifact(tx.db, { id, project_id, task_id: taskId, ...file })
    await insertArtifactFile(tx.db, { artifact_id: id, content })
  })
  return id
}

async function addCase(app: ChannelApp, clientId: string | null): Promise<string> {
  const id = app.ctx.world.newId('case')
  const row = { id, project_id: await projectIdOf(app), wedge: 'desk', client_id: clientId, title: 'Order 7' }
  const state = { stage: 'new', status: 'open', data: '{"fraud":true}', closed_at: null }
  const times = { created_at: '', updated_at: '' }
  await app.ctx.store.transact((db) =>
    db
      .insertInto('cases')
      .values({ ...row, ...state, ...times })
      .execute(),
  )
  return id
}
