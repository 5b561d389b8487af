import { expect } from 'vitest'
import { approvalWaitMs } from '../../../src/approvals/lifecycle/add-to-reports.ts'
import type { Db } from '../../../src/platform/store/store.ts'
import type { ApprovalRow, TaskRow } from '../../../src/platform/store/tables.ts'
import type { ApiResponse } from '../../http.ts'

const DAY = 86_400_000

/** Compares the report of a year with all tasks and approvals in the projects of the caller. */
export async function expectExactReport(
  call: (method: string, path: string) => Promise<ApiResponse>,
  db: Db,
): Promise<void> {
  const { body: report } = await call('GET', '/v1/analytics?days=365')
  const projects: string[] = (await call('GET', '/v1/projects')).body.data.map(({ id }: { id: string }) => id)
  const tasks = await db.selectFrom('tasks').selectAll().where('project_id', 'in', projects).execute()
  const approvals = await db.selectFrom('approvals').selectAll().where('project_id', 'in', projects).execute()
  expect(report).toEqual(expectedReport(Date.parse(report.to), 365, tasks, approvals))
}

/** The expected report, computed from all tasks and approvals. */
export function expectedReport(
  now: number,
  days: number,
  allTasks: readonly TaskRow[],
  allApprovals: readonly ApprovalRow[],
) {
  const midnight = Math.floor(now / DAY) * DAY
  const names = Array.from({ length: days }, (_, n) =>
    new Date(midnight - (days - 1 - n) * DAY).toISOString().slice(0, 10),
  )
  const requestedDays = new Set(names)
  const tasks = allTasks.filter(({ created_at }) => requestedDays.has(created_at.slice(0, 10)))
  const approvals = allApprovals.filter(
    ({ created_at, path }) => requestedDays.has(created_at.slice(0, 10)) && path !== 'question',
  )
  const ofStatus = (status: string) => approvals.filter((approval) => approval.status === status).length
  const [ofDay, ofWedge] = [
    groupTasks(tasks, ({ created_at }) => created_at.slice(0, 10)),
    groupTasks(tasks, ({ wedge }) => wedge),
  ]
  return {
    days,
    from: `${names[0]}T00:00:00.000Z`,
    to: new Date(now).toISOString(),
    runs: tasks.length,
    succeeded: count(tasks, 'succeeded'),
    failed: count(tasks, 'failed'),
    rejected: count(tasks, 'rejected'),
    expired: count(tasks, 'expired'),
    cancelled: count(tasks, 'cancelled'),
    success_rate: successRate(tasks),
    cost_usd: cost(tasks),
    median_approval_wait_s: median(approvals.map(approvalWaitMs).filter((wait) => wait >= 0)),
    by_wedge: [...ofWedge]
      .map(([wedge, of]) => ({ wedge, runs: of.length, success_rate: successRate(of), cost_usd: cost(of) }))
      .toSorted((a, b) => b.runs - a.runs || (a.wedge < b.wedge ? -1 : 1)),
    by_day: names.map((day) => {
      const of = ofDay.get(day) ?? []
      return { day, runs: of.length, succeeded: count(of, 'succeeded'), cost_usd: cost(of) }
    }),
    by_client: [
      ...groupTasks(
        tasks.filter(({ client_id }) => client_id !== null),
        ({ client_id }) => client_id ?? '',
      ),
    ]
      .map(([client_id, of]) => ({ client_id, runs: of.length, cost_usd: cost(of) }))
      .toSorted((a, b) => b.cost_usd - a.cost_usd || (a.client_id < b.client_id ? -1 : 1))
      .slice(0, 100),
    approvals: {
      requested: approvals.length,
      pending: ofStatus('pending'),
      auto_approved: ofStatus('auto_approved'),
      approved: ofStatus('approved'),
      rejected: ofStatus('rejected'),
      expired: ofStatus('expired'),
    },
  }
}

const count = (tasks: readonly TaskRow[], status: string) => tasks.filter((task) => task.status === status).length
const cost = (tasks: readonly TaskRow[]) => tasks.reduce((sum, { cost_micros }) => sum + cost_micros, 0) / 1e6

function successRate(tasks: readonly TaskRow[]): number | null {
  const final = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled']
  const ended = tasks.filter(({ status }) => final.includes(status)).length
  return ended === 0 ? null : count(tasks, 'succeeded') / ended
}

/** The median in seconds of waits in milliseconds. */
function median(waits: readonly number[]): number | null {
  if (waits.length === 0) return null
  const sorted = waits.toSorted((a, b) => a - b)
  const [low = 0, high = 0] = [sorted[Math.floor((waits.length - 1) / 2)], sorted[Math.floor(waits.length / 2)]]
  return (low + high) / 2 / 1000
}

function groupTasks(tasks: readonly TaskRow[], nameOf: (task: TaskRow) => string): Map<string, TaskRow[]> {
  const byName = new Map<string, TaskRow[]>()
  for (const task of tasks) byName.set(nameOf(task), [...(byName.get(nameOf(task)) ?? []), task])
  return byName
}
