import { describe, expect, test } from 'vitest'
import { approvalWaitMs } from '../../../src/approvals/lifecycle/add-to-reports.ts'
import { medianOfCounts } from '../../../src/insight/analytics/median.ts'
import { anyStore, testApp } from '../../app.ts'
import { expectedReport } from './expected-report.ts'
import { endRows, insertApprovals, insertTasks } from './insert-rows.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

anyStore((store) => {
  describe('analytics', () => {
    test('the analytics of a project without tasks has a row for every day and zeros', async () => {
      const app = await testApp({ store })
      const { status, body } = await app.call('GET', '/v1/analytics')
      expect(status).toBe(200)
      expect(body).toMatchObject({
        days: 30,
        from: '2026-02-01T00:00:00.000Z',
        to: '2026-03-02T09:00:00.000Z',
        runs: 0,
        success_rate: null,
        cost_usd: 0,
        median_approval_wait_s: null,
        by_wedge: [],
        by_client: [],
      })
      expect(body.by_day).toHaveLength(30)
      expect(body.by_day[29]).toEqual({ day: '2026-03-02', runs: 0, succeeded: 0, cost_usd: 0 })
    })

    test.each(['0', '366', '-1', '1.5', 'all', ''])('days=%s returns 400', async (days) => {
      const app = await testApp({ store })
      const { status, body } = await app.call('GET', `/v1/analytics?days=${days}`)
      expect(status).toBe(400)
      expect(body.error).toBe("query 'days' must be a whole number from 1 to 365")
    })

    test('analytics counts runs by the UTC day of their creation, exact to the cent', async () => {
      const app = await testApp({ store })
      await insertTasks(app, [
        { status: 'succeeded', cost_micros: 100_001, client_id: 'cli_a' },
        { status: 'succeeded', cost_micros: 200_002, wedge: 'other', created_at: '2026-03-01T23:59:59.999Z' },
        { status: 'failed', cost_micros: 3, client_id: 'cli_b', created_at: '2026-03-01T00:00:00.000Z' },
        { status: 'cancelled', cost_micros: 0, wedge: 'other' },
        { status: 'awaiting_approval', cost_micros: 50_000, client_id: 'cli_b' },
        { status: 'succeeded', cost_micros: 9_000_000, created_at: '2026-02-28T23:59:59.999Z' },
      ])
      const { body } = await app.call('GET', '/v1/analytics?days=2')
      expect(body).toMatchObject({
        days: 2,
        from: '2026-03-01T00:00:00.000Z',
        runs: 5,
        succeeded: 2,
        failed: 1,
        rejected: 0,
        expired: 0,
        cancelled: 1,
        success_rate: 0.5,
        cost_usd: 0.350006,
        by_wedge: [
          { wedge: 'echo', runs: 3, success_rate: 0.5, cost_usd: 0.150004 },
          { wedge: 'other', runs: 2, success_rate: 0.5, cost_usd: 0.200002 },
        ],
        by_day: [
          { day: '2026-03-01', runs: 2, succeeded: 1, cost_usd: 0.200005 },
          { day: '2026-03-02', runs: 3, succeeded: 1, cost_usd: 0.150001 },
        ],
        by_client: [
          { client_id: 'cli_a', runs: 1, cost_usd: 0.100001 },
          { client_id: 'cli_b', runs: 2, cost_usd: 0.050003 },
        ],
      })
    })

    test('the success rate is null while no task has ended, for the project and for each wedge', async () => {
      const app = await testApp({ store })
      await insertTasks(app, [
        { status: 'queued', cost_micros: 0, wedge: 'waiting' },
        { status: 'awaiting_approval', cost_micros: 0, wedge: 'waiting' },
      ])
      const waiting = { wedge: 'waiting', runs: 2, success_rate: null, cost_usd: 0 }
      expect((await app.call('GET', '/v1/analytics')).body).toMatchObject({ success_rate: null, by_wedge: [waiting] })
      await insertTasks(app, [{ status: 'failed', cost_micros: 0, wedge: 'ended' }])
      const ended = { wedge: 'ended', runs: 1, success_rate: 0, cost_usd: 0 }
      const { body } = await app.call('GET', '/v1/analytics')
      expect(body).toMatchObject({ success_rate: 0, by_wedge: [waiting, ended] })
    })

    test('analytics has the median time to decide and counts every approval but no question', async () => {
      const app = await testApp({ store })
      await insertApprovals(app, [
        { status: 'approved', waited: 10_000 },
        { status: 'approved', waited: 90_000 },
        { status: 'rejected', waited: 20_000 },
        { status: 'rejected', waited: 1_000, decided_by_kind: 'system' },
        { status: 'expired', waited: 300_000, decided_by_kind: 'system' },
        { status: 'auto_approved', waited: 0, decided_by_kind: 'system' },
        { status: 'pending', waited: null },
        { status: 'approved', waited: 900_000, path: 'question', decided_by_kind: 'client' },
        { status: 'pending', waited: null, path: 'question' },
      ])
      const { body } = await app.call('GET', '/v1/analytics?days=1')
      expect(body.median_approval_wait_s).toBe(20)
      expect(body.approvals).toEqual({
        requested: 7,
        pending: 1,
        auto_approved: 1,
        approved: 2,
        rejected: 2,
        expired: 1,
      })
    })

    test('analytics has open tasks and approvals, and what becomes of them', async () => {
      const app = await testApp({ store })
      const now = app.clock.now()
      const statuses = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled', 'running', 'queued']
      const tasks = await insertTasks(
        app,
        Array.from({ length: 2500 }, (_, n) => ({
          status: statuses[n % 7] as string,
          cost_micros: n * 7,
          wedge: `w${n % 3}`,
          client_id: n % 4 === 0 ? `cli_${n % 5}` : null,
          created_at: new Date(now - ((n * 37 * MINUTE) % (400 * DAY))).toISOString(),
        })),
      )
      const approvals = await insertApprovals(
        app,
        Array.from({ length: 1300 }, (_, n) => ({
          status: ['approved', 'rejected', 'pending', 'auto_approved'][n % 4] as string,
          path: n % 9 === 0 ? 'question' : 'action',
          waited: n % 4 < 2 ? (n * 137) % 290_000 : null,
          created_at: new Date(now - ((n * 53 * MINUTE) % (300 * DAY))).toISOString(),
        })),
      )
      const report = async (days: number) => (await app.call('GET', `/v1/analytics?days=${days}`)).body
      const expected = (days: number) => expectedReport(now, days, tasks, approvals)
      expect({ year: await report(365), week: await report(7) }).toEqual({ year: expected(365), week: expected(7) })
      expect(expected(365).runs).toBe(2500)
      const open = tasks.filter(({ status }) => ['running', 'queued'].includes(status))
      const pending = approvals.filter(({ status }) => status === 'pending')
      for (const task of open) Object.assign(task, { status: 'succeeded', cost_micros: 5 })
      for (const approval of pending)
        Object.assign(approval, { status: 'expired', decided_at: new Date(now).toISOString() })
      await endRows(app, { tasks: open, approvals: pending })
      expect({ year: await report(365), week: await report(7) }).toEqual({ year: expected(365), week: expected(7) })
      expect(expected(365).approvals.pending).toBe(0)
    })
  })

  describe('the trace of a task', () => {
    test('the trace is the tree of the run, with the status of the task', async () => {
      const app = await testApp({ store })
      const { id } = await app.createTask({ input: 'hello' })
      await app.finished(id)
      const { status, body } = await app.call('GET', `/v1/tasks/${id}/trace`)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        task_id: id,
        status: 'succeeded',
        root: { span_id: 's1', parent_id: null, kind: 'task', status: 'ok' },
      })
      expect((await app.call('GET', '/v1/tasks/task_none/trace')).status).toBe(404)
    })

    test('the trace is built from a log of any length', async () => {
      const app = await testApp({ store })
      await insertTasks(app, [{ id: 'task_long', status: 'running' }])
      const event = (seq: number, type: string, data: object) => ({
        task_id: 'task_long',
        seq,
        type,
        ts: new Date(app.clock.now() + seq).toISOString(),
        data: JSON.stringify(data),
      })
      const deltas = Array.from({ length: 2300 }, (_, n) => event(n + 2, 'token.delta', { text: 'x' }))
      const log = [event(1, 'task.created', {}), ...deltas, event(2302, 'step.started', { step: 1, label: 'think' })]
      for (let n = 0; n < log.length; n += 500) {
        await app.ctx.db
          .insertInto('events')
          .values(log.slice(n, n + 500))
          .execute()
      }
      const { body } = await app.call('GET', '/v1/tasks/task_long/trace')
      expect(body.status).toBe('running')
      expect(body.root.children).toMatchObject([{ span_id: 's2302', name: 'think', kind: 'step' }])
    })
  })
})

describe('approval waits', () => {
  test('a wait of ten seconds or more is rounded to seconds, and a longer one to three digits', () => {
    const wait = (ms: number) =>
      approvalWaitMs({
        status: 'approved',
        created_at: '2026-01-01T00:00:00.000Z',
        decided_at: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
        decided_by_kind: 'member',
      })
    expect([0, 7, 512, 9_876, 12_345, 125_000, 299_999].map(wait)).toEqual([0, 7, 512, 9_880, 12_000, 125_000, 300_000])
    const days = [3_599_400, 90_061_000, 30 * DAY]
    expect(days.map(wait)).toEqual([3_600_000, 90_100_000, 2_590_000_000])
    const month = new Set(Array.from({ length: 30 * 24 * 360 }, (_, n) => wait(n * 10_000)))
    expect(month.size).toBeLessThan(5_000)
  })

  test('medianOfCounts returns the median', () => {
    expect(medianOfCounts(new Map())).toBeNull()
    expect(medianOfCounts(new Map([[5, 1]]))).toBe(5)
    expect(
      medianOfCounts(
        new Map([
          [9, 1],
          [1, 1],
        ]),
      ),
    ).toBe(5)
    expect(
      medianOfCounts(
        new Map([
          [1, 2],
          [100, 3],
        ]),
      ),
    ).toBe(100)
  })
})
