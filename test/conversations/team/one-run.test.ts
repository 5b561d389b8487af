import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../../src/server/app.ts'
import { advanceUntilSettled, GATED_ENV } from '../../approvals/decisions/gated-app.ts'
import { eachStore, FOUNDER_KEY } from '../../app.ts'
import { callApi } from '../../http.ts'
import { type ConversationApp, conversationCalls, openConversationApp } from './conversation-app.ts'

const THREADS = [1, 2, 3]
const MESSAGES = 12

/** The database itself refuses a second run of a thread. Such an attempt fails a claim or a request, which is logged. */
const forbidTwoRuns = (app: ConversationApp) =>
  sql`create unique index one_run on tasks (thread_id)
    where thread_id is not null and status in ('provisioning', 'running', 'awaiting_approval')`.execute(app.ctx.db)

const failures = (app: ConversationApp) => app.logged.filter((line) => /unique|constraint|one_run|deadlock/i.test(line))

eachStore((store) => {
  test('a message behind an unanswered one waits for its thread, and the first message and other threads do not', async () => {
    const app = await openConversationApp(store, { env: GATED_ENV })
    const first = (await app.deliver(7, 'One')).body
    const approval = await app.pendingApproval(first.thread_id)
    await app.clock.advance(1)
    const second = (await app.deliver(7, 'Two')).body
    await app.clock.advance(1)
    const third = (await app.deliver(7, 'Three')).body
    const waitOf = async (id: string) => {
      const { status, waiting_for, queue_reason } = (await app.call('GET', `/v1/tasks/${id}`)).body
      return { status, waiting_for, queue_reason }
    }
    const waits = {
      status: 'queued',
      waiting_for: { kind: 'thread', id: first.thread_id },
      queue_reason: 'waits until the earlier message of this conversation is answered',
    }
    expect(await waitOf(second.task_id)).toEqual(waits)
    expect(await waitOf(third.task_id)).toEqual(waits)
    expect(await waitOf(first.task_id)).toMatchObject({ waiting_for: null, queue_reason: null })
    const listed = (await app.call('GET', '/v1/tasks?status=queued')).body.data
    expect(listed).toMatchObject([
      { id: third.task_id, waiting_for: waits.waiting_for },
      { id: second.task_id, waiting_for: waits.waiting_for },
    ])
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    await app.finished(first.task_id)
    await app.pendingApproval(first.thread_id)
    expect(await waitOf(second.task_id)).toEqual({ status: 'awaiting_approval', waiting_for: null, queue_reason: null })
    expect(await waitOf(third.task_id)).toEqual(waits)
  })

  test('messages, retries, decisions and hand-overs at the same time never start two runs of a thread', async () => {
    // Replies that wait while a person has the conversation expire, so that every task ends.
    const env = { ...GATED_ENV, SVC_MAX_CONCURRENT_TASKS: '16', SVC_APPROVAL_TTL_S: '60' }
    const app = await openConversationApp(store, { wedge: 'open', env })
    await forbidTwoRuns(app)
    const callers = [app]
    if (store === 'postgres') {
      const replica = await startApp(app.ctx.config, app.ctx.world)
      onTestFinished(() => advanceUntilSettled(app, replica.stop()))
      const call: ConversationApp['call'] = (...request) => callApi(replica.url, FOUNDER_KEY, ...request)
      callers.push({ ...app, call, ...conversationCalls({ call }, app.provider, app.channel) })
    }
    const pick = (n: number) => callers[n % callers.length] ?? app
    const moving = setInterval(() => void app.clock.advance(200), 20)
    onTestFinished(() => clearInterval(moving))
    const delivered = await Promise.all(
      THREADS.flatMap((chat) =>
        Array.from({ length: MESSAGES }, async (_, n) => {
          const { status, body } = await pick(n).deliver(chat, `Message ${n}`, chat * 1000 + n)
          if (n % 5 === 4) await pick(n + 1).change(body.thread_id, { held_by: n % 2 === 0 ? 'me' : null, read: true })
          return { status, ...body }
        }),
      ),
    )
    expect(new Set(delivered.map(({ status }) => status))).toEqual(new Set([200]))
    for (const { thread_id } of delivered) await app.change(thread_id, { held_by: null })
    const started = delivered.flatMap(({ task_id }) => (task_id === null ? [] : [task_id]))
    for (const id of started) await app.finished(id)
    const retried = await Promise.all(
      started.slice(0, 9).map(async (id, n) => (await pick(n).call('POST', `/v1/tasks/${id}/retry`)).body.id),
    )
    for (const id of retried) expect(await app.finished(id)).toMatchObject({ status: 'succeeded' })
    expect(failures(app)).toEqual([])
    const open = await app.ctx.db.selectFrom('tasks').select('id').where('status', '=', 'queued').execute()
    expect(open).toEqual([])
    const counts = await app.ctx.db
      .selectFrom('messages')
      .select('thread_id')
      .where('direction', '=', 'inbound')
      .execute()
    expect(counts).toHaveLength(THREADS.length * MESSAGES)
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })
})
