import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import {
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { createAndGetId } from '../../customers/channels/channel-app.ts'
import { type Ctx, inTx } from '../../../src/platform/ctx/ctx.ts'
import { deleteOldTasks } from '../../../src/automation/retention/delete-old-tasks.ts'
import { removeUnusedFiles } from '../../../src/automation/retention/remove-files.ts'
import { pruneOldLogs } from '../../../src/automation/retention/prune-logs.ts'
import { anyStore, eachStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import type { ApiResponse } from '../../http.ts'
import { cancelTask, NO_RATE_LIMIT, SCRIPTED_AGENT, startScriptedTask } from '../../work/tasks/scripted-agent.ts'
import { insertApprovals } from '../../insight/analytics/insert-rows.ts'
import { findInDatabase } from './find-in-database.ts'

const CANARY = 'canary-7f3a'
const DAY_MS = 24 * 60 * 60_000
const OLD = '2020-01-01T00:00:00.000Z'
const NOTE = { name: 'note.txt', content_type: 'text/plain', content_base64: 'aGk=' }
const LINES = [{ event: 'progress', data: { text: CANARY } }, { artifact: NOTE }, { output: { note: CANARY } }]

/** The same replica at a later time. */
const ctxLater = (app: TestApp, days: number): Ctx => {
  const now = app.clock.now() + days * DAY_MS
  return { ...app.ctx, world: { ...app.ctx.world, clock: { now: () => now, after: () => () => {} } } }
}

/** What the sweeps do two days later, with a retention of one day. */
async function sweepTwoDaysLater(app: TestApp): Promise<void> {
  const later = ctxLater(app, 2)
  await pruneOldLogs(later, 1)
  await deleteOldTasks(later, 1)
  await removeUnusedFiles(later, 1)
}

const statusOf = async (app: TestApp, path: string) => (await app.call('GET', path)).status
const deletedTasks = async (app: TestApp): Promise<string[]> => {
  const entries = (await app.call('GET', '/v1/audit?action=task.deleted')).body.data
  return entries.flatMap(({ data }: { data: { tasks: string[] } }) => data.tasks)
}

test('a task that must be kept is not locked', async () => {
  const app = await testApp({ store: 'postgres', env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
  const { id } = await app.createTask({ input: LINES })
  await app.finished(id)
  await insertApprovals(app, [{ task_id: id, status: 'pending', waited: null }])
  const later = ctxLater(app, 2)
  await pruneOldLogs(later, 1)
  const client = new Client({ connectionString: app.ctx.config.databaseUrl ?? '' })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select id from tasks where id = $1 for update', [id])
  expect(await deleteOldTasks(later, 1)).toBe('')
  expect(await statusOf(app, `/v1/tasks/${id}`)).toBe(200)
})

const createFinishedTask = async (app: TestApp, body: Record<string, unknown> = {}): Promise<ApiResponse['body']> =>
  app.finished((await app.createTask({ input: LINES, ...body })).id)

anyStore((store) => {
  const shared = sharedApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })

  test('the audit log keeps its entries and verifies, and the reports keep their sums', async () => {
    const app = shared()
    const { id } = await createFinishedTask(app)
    const report = async () => {
      const { from: _from, to: _to, ...sums } = (await app.call('GET', '/v1/analytics?days=30')).body
      return sums
    }
    const before = await report()
    await sweepTwoDaysLater(app)
    expect(await statusOf(app, `/v1/tasks/${id}`)).toBe(404)
    expect(await report()).toEqual(before)
    expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true, first_bad_seq: null })
    const [created] = (await app.call('GET', `/v1/audit?action=task.created`)).body.data
    expect(created).toMatchObject({ subject: id })
    expect(await deletedTasks(app)).toContain(id)
    expect(await app.ctx.db.selectFrom('storage_usage').select('bytes').execute()).toEqual([{ bytes: 0 }])
  })

  test('a file that two tasks use stays until the last of them is deleted', async () => {
    const app = shared()
    const { body: file } = await app.call('POST', '/v1/files?name=shared.txt', { text: CANARY })
    const first = await createFinishedTask(app, { files: [file.id] })
    const second = await startScriptedTask(app)
    await inTx(app.ctx, ({ db }) =>
      db.insertInto('task_files').values({ task_id: second, n: 0, file_id: file.id }).execute(),
    )
    await sweepTwoDaysLater(app)
    expect(await statusOf(app, `/v1/tasks/${first.id}`)).toBe(404)
    expect(await statusOf(app, `/v1/files/${file.id}`)).toBe(200)
    await cancelTask(app, second)
    await sweepTwoDaysLater(app)
    expect(await statusOf(app, `/v1/files/${file.id}`)).toBe(404)
    expect(await app.ctx.db.selectFrom('file_chunks').select('file_id').execute()).toEqual([])
  })

  test('running tasks, recent tasks, tasks of open cases and tasks with a pending approval are kept', async () => {
    const app = shared()
    const running = await startScriptedTask(app)
    const [recent, ofCase, undecided, old] = [
      await createFinishedTask(app),
      await createFinishedTask(app),
      await createFinishedTask(app),
      await createFinishedTask(app),
    ]
    const caseRow = {
      id: 'case_1',
      wedge: 'echo',
      stage: 'new',
      status: 'open',
      data: '{}',
      created_at: OLD,
      updated_at: OLD,
    }
    await inTx(app.ctx, async ({ db }) => {
      const { project_id } = await db.selectFrom('tasks').select('project_id').executeTakeFirstOrThrow()
      await db
        .insertInto('cases')
        .values({ ...caseRow, project_id })
        .execute()
      const finished_at = new Date(app.clock.now() + 1.5 * DAY_MS).toISOString()
      await db.updateTable('tasks').set({ finished_at }).where('id', '=', recent.id).execute()
      await db.updateTable('tasks').set({ case_id: 'case_1' }).where('id', '=', ofCase.id).execute()
    })
    await insertApprovals(app, [{ task_id: undecided.id, status: 'pending', waited: null }])
    await pruneOldLogs(ctxLater(app, 2), 1)
    await deleteOldTasks(ctxLater(app, 2), 1)
    const statuses = await Promise.all(
      [running, recent.id, ofCase.id, undecided.id, old.id].map((id) => statusOf(app, `/v1/tasks/${id}`)),
    )
    expect(statuses).toEqual([200, 200, 200, 200, 404])
    await cancelTask(app, running)
  })

  test('the service deletes tasks by itself with SVC_TASK_RETENTION_DAYS, in rounds that continue where the last one ended', async () => {
    const app = await testApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_TASK_RETENTION_DAYS: '1' } })
    const { id } = await createFinishedTask(app)
    app.clock.set(app.clock.now() + 2 * DAY_MS)
    const status = async () => {
      await app.clock.advance(60_000)
      return statusOf(app, `/v1/tasks/${id}`)
    }
    await expect.poll(status).toBe(404)
  })
})

eachStore((store) => {
  const gated = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate') })

  test('a task that finished before the retention of tasks is deleted with everything that belongs to it', async () => {
    const app = gated()
    const task = await startAction(app, { payload: { text: CANARY } })
    const approval = await requestedApprovalId(app, task.id)
    await createAndGetId(app, `/v1/approvals/${approval}/comments`, { body: `Is it about ${CANARY}?` })
    await app.call('POST', `/v1/approvals/${approval}/approve`, {})
    await app.finished(task.id)
    await app.call('POST', `/v1/tasks/${task.id}/feedback`, { rating: 5, comment: CANARY })
    expect((await findInDatabase(app, CANARY)).length).toBeGreaterThan(3)
    await sweepTwoDaysLater(app)
    expect(await findInDatabase(app, CANARY)).toEqual([])
    for (const path of ['', '/events', '/trace']) expect(await statusOf(app, `/v1/tasks/${task.id}${path}`)).toBe(404)
    expect(await statusOf(app, `/v1/approvals/${approval}`)).toBe(404)
    expect((await app.call('GET', '/v1/tasks')).body.data).toEqual([])
    expect((await app.call('POST', `/v1/tasks/${task.id}/feedback`, { rating: 1 })).status).toBe(404)
    const inTables = await findInDatabase(app, task.id)
    expect(inTables.filter((table) => !['audit_entries', 'webhook_deliveries'].includes(table))).toEqual([])
  })

  test('replicas that delete at the same time delete each task once, with one audit entry', async () => {
    const app = await testApp({ store, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
    const tasks = await Promise.all(Array.from({ length: 5 }, () => createFinishedTask(app)))
    const later = ctxLater(app, 2)
    await pruneOldLogs(later, 1)
    await Promise.all(Array.from({ length: 4 }, () => deleteOldTasks(later, 1)))
    const finished: string[] = tasks.map(({ id }) => id)
    expect((await deletedTasks(app)).toSorted()).toEqual(finished.toSorted())
    expect(await app.ctx.db.selectFrom('tasks').select('id').execute()).toEqual([])
  })
})
