import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { readReportSums, summariseAnalytics } from '../../../src/insight/analytics/analytics.ts'
import { LIVE_ROWS_PER_STEP } from '../../../src/insight/analytics/live-rows.ts'
import { reportDays, toPeriodSum } from '../../../src/insight/analytics/periods.ts'
import { rollUpReports } from '../../../src/insight/analytics/rollup.ts'
import type { ApprovalRow, TaskRow } from '../../../src/platform/store/tables.ts'
import { planTask, queueTask } from '../../../src/work/tasks/create-task.ts'
import { eachStore, type TestApp } from '../../app.ts'
import { expectedReport } from './expected-report.ts'
import { insertApprovals, insertTasks, type NewApproval, reportApp } from './insert-rows.ts'

const DAY = 86_400_000

/** In order: ends and starts of years and months, a leap year, and days in between. */
const REPORT_DAYS = [
  '2024-02-29T12:00:00.000Z',
  '2024-12-31T23:59:00.000Z',
  '2025-01-01T00:30:00.000Z',
  '2025-07-17T12:34:56.789Z',
  '2025-12-30T08:00:00.000Z',
  '2026-03-01T00:00:00.000Z',
  '2026-08-31T17:00:00.000Z',
]

/** A few more clients than the hundred that are listed, and few costs, so that some clients have equal costs. */
const aTask = fc.record({
  when: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  status: fc.constantFrom('succeeded', 'succeeded', 'failed', 'rejected', 'expired', 'cancelled', 'running'),
  cost_micros: fc.constantFrom(0, 1, 333_333, 1_000_000, 20_000_001),
  wedge: fc.constantFrom('desk', 'echo', 'other'),
  client_id: fc.option(
    fc.integer({ min: 1, max: 130 }).map((n) => `cli_${n}`),
    { freq: 4 },
  ),
})
const anApproval = fc.record({
  when: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  status: fc.constantFrom('approved', 'rejected', 'expired', 'auto_approved', 'pending'),
  waited: fc.integer({ min: 0, max: 299_999 }),
})
const days = fc.oneof(fc.constantFrom(1, 7, 30, 31, 90, 364, 365), fc.integer({ min: 1, max: 365 }))

eachStore((store) => {
  test('every report equals the plain sum of its tasks, rolled up or not', async () => {
    const app = await reportApp(store)
    const inserted: InsertedRows = { tasks: [], approvals: [] }
    let before = Date.parse('2022-12-01')
    for (const [seed, today] of REPORT_DAYS.entries()) {
      const now = Date.parse(today)
      app.clock.set(now)
      await endHalf(app, inserted)
      await addBetween(app, inserted, before, now, seed)
      before = now
      // Rows that ended since were open in the previous rollup. Every third time the rollup is skipped.
      for (const fold of seed % 3 === 2 ? [false] : [false, true]) {
        if (fold) await rollUpReports(app.ctx)
        for (const n of fc.sample(days, { numRuns: 6, seed })) {
          const { body } = await app.call('GET', `/v1/analytics?days=${n}`)
          expect(body).toEqual(expectedReport(now, n, inserted.tasks, inserted.approvals))
        }
      }
    }
    expect(inserted.tasks.length).toBeGreaterThan(2000)
  })

  test('analytics reads few tasks one by one, also when thousands were created in the last ten minutes', async () => {
    const app = await reportApp(store)
    app.clock.set(Date.parse('2026-10-30T12:00:00.000Z'))
    const created = await Promise.all([app.createTask(), app.createTask()])
    for (const { id } of created) await app.finished(id)
    const start = app.clock.now() + 1000
    const tasks = await insertTasks(
      app,
      Array.from({ length: 3000 }, (_, n) => ({
        created_at: new Date(start + n * 200).toISOString(),
        client_id: `cli_${n % 1200}`,
        cost_micros: n % 1200,
      })),
    )
    app.clock.set(start + 600_000)
    const own = await app.ctx.db.selectFrom('tasks').selectAll().where('replica', '!=', 'somewhere else').execute()
    // A task that ends now makes the replica roll up the project within seconds.
    await app.finished((await app.createTask()).id)
    await app.clock.advance(5_000)
    await expect.poll(() => countLiveTasks(app)).toBeLessThan(100)
    const last = await app.ctx.db.selectFrom('tasks').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    const { body } = await app.call('GET', '/v1/analytics?days=30')
    expect(body).toEqual(expectedReport(app.clock.now(), 30, [...tasks, ...own, last], []))
  })

  test('analytics stays exact while a rollup runs', async () => {
    const app = await reportApp(store)
    const now = Date.parse('2026-10-30T12:00:00.000Z')
    app.clock.set(now)
    const inserted = await insertOpenRows(app, 3 * LIVE_ROWS_PER_STEP)
    await rollUpReports(app.ctx)
    await endHalf(app, inserted)
    const expected = expectedReport(now, 30, inserted.tasks, inserted.approvals)
    const rollup = rollUpReports(app.ctx)
    const reports = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        await setTimeout(n * 5)
        return (await app.call('GET', '/v1/analytics?days=30')).body
      }),
    )
    expect(await rollup).toBe(inserted.tasks.length)
    for (const report of reports) expect(report).toEqual(expected)
  })

  test('analytics reads open tasks and approvals in steps, and other requests get their turn in between', async () => {
    const app = await reportApp(store)
    const now = Date.parse('2026-10-30T12:00:00.000Z')
    app.clock.set(now)
    const steps = 5
    const inserted = await insertOpenRows(app, steps * LIVE_ROWS_PER_STEP)
    for (const rolledUp of [0, inserted.tasks.length + inserted.approvals.length]) {
      if (rolledUp > 0) expect(await rollUpReports(app.ctx)).toBe(rolledUp)
      const returned = recordRowCounts(app)
      const { body } = await app.call('GET', '/v1/analytics?days=30')
      expect(body).toEqual(expectedReport(now, 30, inserted.tasks, inserted.approvals))
      expect(Math.max(...returned())).toBe(LIVE_ROWS_PER_STEP)
      expect(returned().filter((rows) => rows === LIVE_ROWS_PER_STEP)).toHaveLength(2 * steps)
    }
    let turns = 0
    const timer = setImmediate(function countTurn() {
      turns++
      setImmediate(countTurn)
    })
    const range = { from: '2026-10-01', to: '2026-10-30', periods: { plus: ['2026-10'], minus: [] } }
    const { id: projectId } = await app.ctx.db.selectFrom('projects').select('id').executeTakeFirstOrThrow()
    turns = 0
    await readReportSums(app.ctx, { projectIds: [projectId], ...range })
    expect(turns).toBeGreaterThanOrEqual(2 * steps)
    clearImmediate(timer)
  })

  test('a report of several projects has the rows of all, open or not', async () => {
    const app = await reportApp(store)
    const now = Date.parse('2026-10-30T12:00:00.000Z')
    app.clock.set(now)
    const { id, org_id } = await app.ctx.db.selectFrom('projects').select(['id', 'org_id']).executeTakeFirstOrThrow()
    const project = { id: 'prj_other', org_id, slug: 'other', name: 'Other', tier: 'default', wedges: null }
    await app.ctx.db
      .insertInto('projects')
      .values({ ...project, created_at: 'then' })
      .execute()
    const [own, other] = [
      await insertOpenRows(app, LIVE_ROWS_PER_STEP + 200, { clients: 900 }),
      await insertOpenRows(app, 2 * LIVE_ROWS_PER_STEP + 1, { project_id: project.id, clients: 700 }),
    ]
    // More projects than one statement reads, and rows that do not exist any more.
    const empty = Array.from({ length: 10 }, (_, n) => `prj_empty${n}`)
    const deleted = ['task_00000000000000000000000000', 'task_0zzzzzzzzzzzzzzzzzzzzzzzzz']
    const inserted = { tasks: [...own.tasks, ...other.tasks], approvals: [...own.approvals, ...other.approvals] }
    // First all rows are new, then they are open, and then half of them are in the sums.
    for (const ends of [false, true, true]) {
      const days = reportDays(now, 30)
      const range = { from: days[0] ?? '', to: days.at(-1) ?? '', periods: toPeriodSum(days) }
      const sums = await readReportSums(app.ctx, { projectIds: [id, ...empty, project.id], ...range })
      expect(summariseAnalytics(days, now, sums)).toEqual(expectedReport(now, 30, inserted.tasks, inserted.approvals))
      if (ends) await endHalf(app, inserted)
      await rollUpReports(app.ctx)
      for (const deletedId of deleted)
        await sql`insert into report_open (project_id, source, id) values (${project.id}, 'tasks', ${deletedId})
          on conflict do nothing`.execute(app.ctx.db)
    }
  })

  test('a report of no project is empty', async () => {
    const app = await reportApp(store)
    const days = reportDays(app.clock.now(), 7)
    const range = { from: days[0] ?? '', to: days.at(-1) ?? '', periods: toPeriodSum(days) }
    const sums = await readReportSums(app.ctx, { projectIds: [], ...range })
    expect(summariseAnalytics(days, app.clock.now(), sums)).toEqual(expectedReport(app.clock.now(), 7, [], []))
  })

  test('the clients of a report are complete when they are read in several ranges', async () => {
    const app = await reportApp(store)
    const now = Date.parse('2026-10-16T12:00:00.000Z')
    app.clock.set(now)
    // This report adds and subtracts most periods, so a range has the fewest clients.
    const periodsOf = (n: number) => Object.values(toPeriodSum(reportDays(now, n))).flat().length
    const most = Array.from({ length: 365 }, (_, n) => n + 1).reduce((a, b) => (periodsOf(b) > periodsOf(a) ? b : a))
    const tasks = await insertTasks(
      app,
      Array.from({ length: 3000 }, (_, n) => ({
        created_at: new Date(now - DAY - ((n * 7) % 365) * DAY).toISOString(),
        client_id: `cli_${String(n % 1500).padStart(4, '0')}`,
        cost_micros: (n * 37) % 1009,
      })),
    )
    await rollUpReports(app.ctx)
    const { body } = await app.call('GET', `/v1/analytics?days=${most}`)
    expect(body).toEqual(expectedReport(now, most, tasks, []))
  })

  test('a question is not kept for the reports, which do not count it', async () => {
    const app = await reportApp(store)
    await insertApprovals(app, [
      { status: 'pending', path: 'question', waited: null },
      { status: 'pending', waited: null },
    ])
    await rollUpReports(app.ctx)
    const open = await app.ctx.db.selectFrom('report_open').select('id').execute()
    expect(open).toHaveLength(1)
    expect((await app.call('GET', '/v1/analytics?days=2')).body.approvals).toMatchObject({ requested: 1, pending: 1 })
  })

  test('a task whose commit comes after the rollup is counted', async () => {
    const app = await reportApp(store)
    const { ctx, clock } = app
    const [project] = await ctx.db.selectFrom('projects').select('id').execute()
    const scope = { projectId: project?.id ?? '' }
    const late = await planTask(ctx, scope, { wedge: 'echo', task_type: 'say' })
    clock.set(clock.now() + 60_000)
    await app.finished((await app.createTask()).id)
    clock.set(clock.now() + 15 * 60_000)
    await rollUpReports(ctx)
    await inTx(ctx, (tx) => queueTask(tx, late, { kind: 'key', id: 'key_1' }))
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(2)
    await app.finished(late.id)
    await rollUpReports(ctx)
    expect((await app.call('GET', '/v1/analytics?days=2')).body).toMatchObject({ runs: 2, succeeded: 2 })
  })

  test('a client without runs in the requested days is not listed', async () => {
    const app = await reportApp(store)
    app.clock.set(Date.parse('2026-10-30T12:00:00.000Z'))
    const tasks = await insertTasks(app, [
      { created_at: '2026-10-01T12:00:00.000Z', client_id: 'cli_before', cost_micros: 5 },
      { created_at: '2026-10-15T12:00:00.000Z', client_id: 'cli_free', cost_micros: 0 },
    ])
    await rollUpReports(app.ctx)
    // The month minus its first days.
    const { body } = await app.call('GET', '/v1/analytics?days=28')
    expect(body.by_client).toEqual([{ client_id: 'cli_free', runs: 1, cost_usd: 0 }])
    expect(body).toEqual(expectedReport(app.clock.now(), 28, tasks, []))
  })

  test('tasks that are created after the clock was set back are counted', async () => {
    const app = await reportApp(store)
    const right = app.clock.now()
    app.clock.set(right + DAY)
    await app.finished((await app.createTask()).id)
    app.clock.set(right + DAY + 15 * 60_000)
    expect(await rollUpReports(app.ctx)).toBe(1)
    app.clock.set(right)
    for (let n = 0; n < 2; n++) await app.finished((await app.createTask()).id)
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(2)
    app.clock.set(right + DAY)
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(3)
  })

  test('rows that a wrong clock dated into the future are counted when their day comes, and not before', async () => {
    const app = await reportApp(store)
    const right = Date.parse('2026-03-30T12:00:00.000Z')
    app.clock.set(right + 20 * DAY)
    const ahead = [1, 3, 15].map((n) => new Date(right + n * DAY).toISOString())
    const tasks = await insertTasks(
      app,
      [...ahead, '2026-03-29T00:00:00.000Z'].map((created_at) => ({ created_at, client_id: 'cli_1', cost_micros: 7 })),
    )
    expect(await rollUpReports(app.ctx)).toBe(4)
    for (const now of [right, right + DAY, right + 3 * DAY, right + 15 * DAY]) {
      app.clock.set(now)
      for (const n of [1, 7, 30, 90, 365]) {
        const { body } = await app.call('GET', `/v1/analytics?days=${n}`)
        expect(body).toEqual(expectedReport(now, n, tasks, []))
      }
    }
  })
})

/** Inserts open tasks of many clients and as many pending approvals, all of the last month. */
async function insertOpenRows(
  app: TestApp,
  count: number,
  { clients = 130, ...project }: { clients?: number; project_id?: string } = {},
): Promise<InsertedRows> {
  const at = (n: number) => new Date(app.clock.now() - DAY - n * 60_000).toISOString()
  const numbers = Array.from({ length: count }, (_, n) => n)
  return {
    tasks: await insertTasks(
      app,
      numbers.map((n) => ({
        status: 'running',
        created_at: at(n),
        client_id: `cli_${project.project_id ?? ''}${n % clients}`,
        cost_micros: n,
        ...project,
      })),
    ),
    approvals: await insertApprovals(
      app,
      numbers.map((n) => ({ status: 'pending', created_at: at(n), waited: null, ...project })),
    ),
  }
}

/** Counts the rows that each statement of a snapshot returns from now on. */
function recordRowCounts({ ctx: { store } }: TestApp): () => number[] {
  const readSnapshot = store.readSnapshot.bind(store)
  const counts: number[] = []
  store.readSnapshot = (work) =>
    readSnapshot((db) => {
      // The reports use prepared queries for these rows, which the adapter runs.
      const adapter = db.getExecutor().adapter as unknown as { run: (...args: unknown[]) => Promise<unknown[]> }
      const { run } = adapter
      adapter.run = async (...args) => {
        const rows = await run(...args)
        counts.push(countRows(rows))
        return rows
      }
      return work(db).finally(() => {
        adapter.run = run
      })
    })
  return () => counts
}

/** On SQLite many rows come as one, whose columns are lists. */
function countRows(rows: unknown[]): number {
  const [{ id = '' } = {}] = rows as { id?: string }[]
  return id.startsWith('[') ? (JSON.parse(id) as unknown[]).length : rows.length
}

/** How many tasks are not in the sums yet. */
async function countLiveTasks({ ctx: { db } }: TestApp): Promise<number> {
  const mark = await db.selectFrom('report_marks').select('folded_to').where('source', '=', 'tasks').executeTakeFirst()
  const after = db.selectFrom('tasks').select((eb) => eb.fn.countAll<number>().as('n'))
  return (await after.where('id', '>', mark?.folded_to ?? '').executeTakeFirstOrThrow()).n
}

interface InsertedRows {
  tasks: TaskRow[]
  approvals: ApprovalRow[]
}

/** Inserts tasks and approvals between two times; the newest are too young for the rollup. */
async function addBetween(app: TestApp, inserted: InsertedRows, from: number, to: number, seed: number): Promise<void> {
  const at = (when: number) => new Date(from + Math.floor(when * (to - from))).toISOString()
  const tasks = fc.sample(aTask, { numRuns: 400, seed }).map(({ when, ...task }) => ({ ...task, created_at: at(when) }))
  inserted.tasks.push(...(await insertTasks(app, [...tasks, { created_at: at(0.9999999), client_id: 'cli_7' }])))
  const approvals = fc.sample(anApproval, { numRuns: 150, seed }).map(
    ({ when, waited, ...approval }): NewApproval => ({
      ...approval,
      created_at: at(when),
      waited: approval.status === 'pending' ? null : waited,
      decided_by_kind: ['approved', 'rejected'].includes(approval.status) ? 'member' : 'system',
    }),
  )
  inserted.approvals.push(...(await insertApprovals(app, approvals)))
}

/** Ends every other open task and approval, some of them old ones, and raises the cost of the tasks. */
async function endHalf(app: TestApp, inserted: InsertedRows): Promise<void> {
  const running = inserted.tasks.filter(({ status }) => status === 'running').filter((_, n) => n % 2 === 0)
  const pending = inserted.approvals.filter(({ status }) => status === 'pending').filter((_, n) => n % 2 === 0)
  for (const task of running) Object.assign(task, { status: 'succeeded', cost_micros: task.cost_micros + 5_000_000 })
  for (const approval of pending) {
    const decided_at = new Date(Date.parse(approval.created_at) + 60_000).toISOString()
    Object.assign(approval, { status: 'approved', decided_at, decided_by_kind: 'member' })
  }
  await app.ctx.store.transact(async (db) => {
    for (const { id, status, cost_micros } of running) {
      await db.updateTable('tasks').set({ status, cost_micros }).where('id', '=', id).execute()
    }
    for (const { id, status, decided_at, decided_by_kind } of pending) {
      await db.updateTable('approvals').set({ status, decided_at, decided_by_kind }).where('id', '=', id).execute()
    }
  })
}
