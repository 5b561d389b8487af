import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnalytics } from '../../../src/insight/analytics/analytics.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import type { ApprovalRow, TaskRow } from '../../../src/platform/store/tables.ts'
import { planTask, queueTask } from '../../../src/work/tasks/create-task.ts'
import { eachStore, type TestApp, testApp } from '../../app.ts'
import { expectedReport } from './expected-report.ts'
import { endRows, insertApprovals, insertTasks, type NewApproval } from './insert-rows.ts'

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
  test('every report equals the plain sum of its tasks, open or not', async () => {
    const app = await testApp({ store })
    const inserted: InsertedRows = { tasks: [], approvals: [] }
    let before = Date.parse('2022-12-01')
    for (const [seed, today] of REPORT_DAYS.entries()) {
      const now = Date.parse(today)
      app.clock.set(now)
      await endHalf(app, inserted)
      await addBetween(app, inserted, before, now, seed)
      before = now
      for (const n of fc.sample(days, { numRuns: 6, seed })) {
        const { body } = await app.call('GET', `/v1/analytics?days=${n}`)
        expect(body).toEqual(expectedReport(now, n, inserted.tasks, inserted.approvals))
      }
    }
    expect(inserted.tasks.length).toBeGreaterThan(2000)
  })

  test('analytics has every task and approval once while they end', async () => {
    const app = await testApp({ store })
    const now = Date.parse('2026-10-30T12:00:00.000Z')
    app.clock.set(now)
    const inserted = await insertOpenRows(app, 1000)
    const ends = endHalf(app, inserted)
    const reports = []
    for (let n = 0; n < 8; n++) reports.push((await app.call('GET', '/v1/analytics?days=30')).body)
    await ends
    for (const { runs, by_day, by_wedge, approvals } of reports) {
      expect({ runs, requested: approvals.requested }).toEqual({ runs: 1000, requested: 1000 })
      expect(by_wedge).toMatchObject([{ runs }])
      expect(by_day.reduce((sum: number, day: { runs: number }) => sum + day.runs, 0)).toBe(runs)
    }
    const { body } = await app.call('GET', '/v1/analytics?days=30')
    expect(body).toEqual(expectedReport(now, 30, inserted.tasks, inserted.approvals))
  })

  test('a report of several projects has the rows of all, open or not', async () => {
    const app = await testApp({ store })
    const now = Date.parse('2026-10-30T12:00:00.000Z')
    app.clock.set(now)
    const { id, org_id } = await app.ctx.db.selectFrom('projects').select(['id', 'org_id']).executeTakeFirstOrThrow()
    const project = { id: 'prj_other', org_id, slug: 'other', name: 'Other', tier: 'default', wedges: null }
    await app.ctx.db
      .insertInto('projects')
      .values({ ...project, created_at: 'then' })
      .execute()
    const [own, other] = [
      await insertOpenRows(app, 300, { clients: 90 }),
      await insertOpenRows(app, 401, { project_id: project.id, clients: 70 }),
    ]
    const empty = Array.from({ length: 10 }, (_, n) => `prj_empty${n}`)
    const inserted = { tasks: [...own.tasks, ...other.tasks], approvals: [...own.approvals, ...other.approvals] }
    const report = () => readAnalytics(app.ctx.db, [id, ...empty, project.id], { now, days: 30 })
    expect(await report()).toEqual(expectedReport(now, 30, inserted.tasks, inserted.approvals))
    await endHalf(app, inserted)
    expect(await report()).toEqual(expectedReport(now, 30, inserted.tasks, inserted.approvals))
  })

  test('a report of no project is empty', async () => {
    const app = await testApp({ store })
    const now = app.clock.now()
    expect(await readAnalytics(app.ctx.db, [], { now, days: 7 })).toEqual(expectedReport(now, 7, [], []))
  })

  test('a report has the clients with the highest costs of all days', async () => {
    const app = await testApp({ store })
    const now = Date.parse('2026-10-16T12:00:00.000Z')
    app.clock.set(now)
    const tasks = await insertTasks(
      app,
      Array.from({ length: 3000 }, (_, n) => ({
        created_at: new Date(now - DAY - ((n * 7) % 365) * DAY).toISOString(),
        client_id: `cli_${String(n % 1500).padStart(4, '0')}`,
        cost_micros: (n * 37) % 1009,
      })),
    )
    const { body } = await app.call('GET', '/v1/analytics?days=351')
    expect(body).toEqual(expectedReport(now, 351, tasks, []))
  })

  test('a question is not counted', async () => {
    const app = await testApp({ store })
    await insertApprovals(app, [
      { status: 'pending', path: 'question', waited: null },
      { status: 'pending', waited: null },
    ])
    expect((await app.call('GET', '/v1/analytics?days=2')).body.approvals).toMatchObject({ requested: 1, pending: 1 })
  })

  test('a task whose commit comes long after its id was made is counted', async () => {
    const app = await testApp({ store })
    const { ctx, clock } = app
    const [project] = await ctx.db.selectFrom('projects').select('id').execute()
    const scope = { projectId: project?.id ?? '' }
    const late = await planTask(ctx, scope, { wedge: 'echo', task_type: 'say' })
    clock.set(clock.now() + 60_000)
    await app.finished((await app.createTask()).id)
    clock.set(clock.now() + 15 * 60_000)
    await inTx(ctx, (tx) => queueTask(tx, late, { kind: 'key', id: 'key_1' }))
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(2)
    await app.finished(late.id)
    expect((await app.call('GET', '/v1/analytics?days=2')).body).toMatchObject({ runs: 2, succeeded: 2 })
  })

  test('a client without runs in the requested days is not listed', async () => {
    const app = await testApp({ store })
    app.clock.set(Date.parse('2026-10-30T12:00:00.000Z'))
    const tasks = await insertTasks(app, [
      { created_at: '2026-10-01T12:00:00.000Z', client_id: 'cli_before', cost_micros: 5 },
      { created_at: '2026-10-15T12:00:00.000Z', client_id: 'cli_free', cost_micros: 0 },
    ])
    // The month minus its first days.
    const { body } = await app.call('GET', '/v1/analytics?days=28')
    expect(body.by_client).toEqual([{ client_id: 'cli_free', runs: 1, cost_usd: 0 }])
    expect(body).toEqual(expectedReport(app.clock.now(), 28, tasks, []))
  })

  test('tasks that are created after the clock was set back are counted', async () => {
    const app = await testApp({ store })
    const right = app.clock.now()
    app.clock.set(right + DAY)
    await app.finished((await app.createTask()).id)
    app.clock.set(right + DAY + 15 * 60_000)
    app.clock.set(right)
    for (let n = 0; n < 2; n++) await app.finished((await app.createTask()).id)
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(2)
    app.clock.set(right + DAY)
    expect((await app.call('GET', '/v1/analytics?days=2')).body.runs).toBe(3)
  })

  test('rows that a wrong clock dated into the future are counted when their day comes, and not before', async () => {
    const app = await testApp({ store })
    const right = Date.parse('2026-03-30T12:00:00.000Z')
    app.clock.set(right + 20 * DAY)
    const ahead = [1, 3, 15].map((n) => new Date(right + n * DAY).toISOString())
    const tasks = await insertTasks(
      app,
      [...ahead, '2026-03-29T00:00:00.000Z'].map((created_at) => ({ created_at, client_id: 'cli_1', cost_micros: 7 })),
    )
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

interface InsertedRows {
  tasks: TaskRow[]
  approvals: ApprovalRow[]
}

/** Inserts tasks and approvals between two times. */
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
  await endRows(app, { tasks: running, approvals: pending })
}
