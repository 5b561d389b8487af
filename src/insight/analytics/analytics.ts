import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Db } from '../../platform/store/store.ts'
import { TERMINAL_STATUSES } from '../../work/events/event-types.ts'
import { medianOfCounts, NO_WAIT } from './approval-wait.ts'
import { countLiveApprovals, type LiveTaskSums, sumLiveTasks } from './live-sums.ts'
import {
  type ClientSum,
  listClientSums,
  MAX_CLIENTS_SHOWN,
  readTopClientSums,
  withClientPeriods,
} from './client-rows.ts'
import {
  type ApprovalSum,
  type DaySum,
  listApprovalSums,
  type ReportRange,
  readRunSums,
  type WedgeSum,
} from './rows.ts'

/** Limits what one statement reads, because SQLite blocks other requests meanwhile. */
const PROJECTS_PER_STATEMENT = 8

interface ReportSums {
  days: readonly DaySum[]
  wedges: readonly WedgeSum[]
  clients: readonly ClientSum[]
  approvals: readonly ApprovalSum[]
}

/** All sums of a report, of one moment: a concurrent rollup neither counts a row twice nor loses it. */
export function readReportSums(ctx: Ctx, { projectIds, ...period }: ReportRange): Promise<ReportSums> {
  return ctx.store.readSnapshot(async (db) => {
    let sums: ReportSums = { days: [], wedges: [], clients: [], approvals: [] }
    for (let at = 0; at < projectIds.length; at += PROJECTS_PER_STATEMENT) {
      const range = { ...period, projectIds: projectIds.slice(at, at + PROJECTS_PER_STATEMENT) }
      const [live, rolledUp] = [await sumLiveTasks(db, range), await readRunSums(db, range)]
      sums = {
        days: sums.days.concat(rolledUp.days, live.days),
        wedges: sums.wedges.concat(rolledUp.wedges, live.wedges),
        clients: takeTopClients(sums.clients.concat(await findTopClients(db, range, live.clients))),
        approvals: sums.approvals.concat(await listApprovalSums(db, range), await countLiveApprovals(db, range)),
      }
    }
    return sums
  })
}

/**
 * The clients with the highest costs. A client without live runs that is not among the first of its range has as many
 * clients before it, so it is not among the first of all.
 */
async function findTopClients(db: Db, asked: ReportRange, live: LiveTaskSums['clients']): Promise<ClientSum[]> {
  const range = await withClientPeriods(db, asked)
  const rolledUp = await listClientSums(db, range, [...live.values()])
  const first = [...live.values()].map((sum) => addClientSum(sum, rolledUp.get(sum.client_id)))
  for await (const page of readTopClientSums(db, range))
    first.push(...page.filter(({ client_id }) => !live.has(client_id)))
  return takeTopClients(first)
}

const addClientSum = ({ client_id, runs, cost_micros }: ClientSum, other: ClientSum | undefined): ClientSum => ({
  client_id,
  runs: runs + (other?.runs ?? 0),
  cost_micros: cost_micros + (other?.cost_micros ?? 0),
})

const takeTopClients = (clients: readonly ClientSum[]) =>
  clients
    .toSorted((a, b) => b.cost_micros - a.cost_micros || (a.client_id < b.client_id ? -1 : 1))
    .slice(0, MAX_CLIENTS_SHOWN)

/** Builds the response from the sums. Money is added in whole micro-dollars, so it is exact to the cent. */
export function summariseAnalytics(days: readonly string[], now: number, sums: ReportSums) {
  const { wedges, clients, approvals } = sums
  const all = tally(wedges)
  return {
    days: days.length,
    from: `${days[0]}T00:00:00.000Z`,
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
    by_wedge: byWedge(wedges),
    by_day: byDay(days, sums.days),
    by_client: clients.map(({ client_id, runs, cost_micros }) => ({ client_id, runs, cost_usd: cost_micros / 1e6 })),
    approvals: approvalCounts(approvals),
  }
}

function byWedge(sums: readonly WedgeSum[]) {
  return [...new Set(sums.map(({ wedge }) => wedge))]
    .map((wedge) => ({ wedge, ...tally(sums.filter((sum) => sum.wedge === wedge)) }))
    .map(({ wedge, runs, successRate, costUsd }) => ({ wedge, runs, success_rate: successRate, cost_usd: costUsd }))
    .toSorted((a, b) => b.runs - a.runs || (a.wedge < b.wedge ? -1 : 1))
}

function byDay(days: readonly string[], sums: readonly DaySum[]) {
  const ofDays = new Map(days.map((day) => [day, { runs: 0, succeeded: 0, cost_micros: 0 }]))
  for (const { day, runs, succeeded, cost_micros } of sums) {
    const sum = ofDays.get(day)
    if (!sum) continue
    sum.runs += runs
    sum.succeeded += succeeded
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
function tally(sums: readonly WedgeSum[]) {
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
