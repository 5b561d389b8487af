import { NO_WAIT } from '../../approvals/lifecycle/add-to-reports.ts'
import type { Db } from '../../platform/store/store.ts'
import { TERMINAL_STATUSES } from '../../work/events/event-types.ts'
import { medianOfCounts } from './median.ts'
import { reportDays, toPeriods } from './periods.ts'
import { type ApprovalSum, listApprovalSums, listRunSums, listTopClients, type RunSum } from './rows.ts'

/** The report of the last days. Money is added in whole micro-dollars, so it is exact to the cent. */
export async function readAnalytics(
  db: Db,
  projectIds: readonly string[],
  { now, days }: { now: number; days: number },
) {
  const dayNames = reportDays(now, days)
  const [from = '', to = ''] = [dayNames[0], dayNames.at(-1)]
  const range = { projectIds, from, to, periods: toPeriods(dayNames) }
  const runs = await listRunSums(db, range)
  const clients = await listTopClients(db, range)
  const approvals = await listApprovalSums(db, range)
  const all = tally(runs)
  return {
    days,
    from: `${from}T00:00:00.000Z`,
    to: new Date(now).toISOString(),
    runs: all.runs,
    succeeded: all.of('succeeded'),
    failed: all.of('failed'),
    rejected: all.of('rejected'),
    expired: all.of('expired'),
    cancelled: all.of('cancelled'),
    success_rate: all.successRate,
    cost_usd: all.costUsd,
    median_approval_wait_s: medianWait(approvals),
    by_wedge: byWedge(runs),
    by_day: byDay(dayNames, runs),
    by_client: clients.map(({ client_id, runs: n, cost_micros }) => ({
      client_id,
      runs: n,
      cost_usd: cost_micros / 1e6,
    })),
    approvals: approvalCounts(approvals),
  }
}

function byWedge(sums: readonly RunSum[]) {
  return [...new Set(sums.map(({ wedge }) => wedge))]
    .map((wedge) => ({ wedge, ...tally(sums.filter((sum) => sum.wedge === wedge)) }))
    .map(({ wedge, runs, successRate, costUsd }) => ({ wedge, runs, success_rate: successRate, cost_usd: costUsd }))
    .toSorted((a, b) => b.runs - a.runs || (a.wedge < b.wedge ? -1 : 1))
}

function byDay(days: readonly string[], sums: readonly RunSum[]) {
  const ofDays = new Map(days.map((day) => [day, { runs: 0, succeeded: 0, cost_micros: 0 }]))
  for (const { day, status, runs, cost_micros } of sums) {
    const sum = ofDays.get(day)
    if (!sum) continue
    sum.runs += runs
    if (status === 'succeeded') sum.succeeded += runs
    sum.cost_micros += cost_micros
  }
  return [...ofDays].map(([day, { runs, succeeded, cost_micros }]) => ({
    day,
    runs,
    succeeded,
    cost_usd: cost_micros / 1e6,
  }))
}

/** A task that has not ended counts as a run, but not for the success rate. */
function tally(sums: readonly RunSum[]) {
  const of = (status: string) => sum(sums.filter((row) => row.status === status).map(({ runs }) => runs))
  const ended = sum(TERMINAL_STATUSES.map(of))
  return {
    runs: sum(sums.map(({ runs }) => runs)),
    of,
    successRate: ended === 0 ? null : of('succeeded') / ended,
    costUsd: sum(sums.map(({ cost_micros }) => cost_micros)) / 1e6,
  }
}

function approvalCounts(approvals: readonly ApprovalSum[]) {
  const of = (status: string) => sum(approvals.filter((row) => row.status === status).map(({ n }) => n))
  return {
    requested: sum(approvals.map(({ n }) => n)),
    pending: of('pending'),
    auto_approved: of('auto_approved'),
    approved: of('approved'),
    rejected: of('rejected'),
    expired: of('expired'),
  }
}

function medianWait(approvals: readonly ApprovalSum[]): number | null {
  const counts = new Map<number, number>()
  for (const { wait_ms, n } of approvals) {
    if (wait_ms !== NO_WAIT) counts.set(wait_ms, (counts.get(wait_ms) ?? 0) + n)
  }
  const median = medianOfCounts(counts)
  return median === null ? null : median / 1000
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0)
