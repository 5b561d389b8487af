import { TERMINAL_STATUSES } from '../tasks/status.ts'
import { approvalWaitMs, medianOfCounts, NO_WAIT } from './approval-wait.ts'
import type { ApprovalSum, ClientSum, RunSum } from './rows.ts'

export const MAX_CLIENTS_SHOWN = 100

/** Builds the response from the sums. Money is added in whole micro-dollars, so it is exact to the cent. */
export function summariseAnalytics(
  days: readonly string[],
  now: number,
  sums: { runs: readonly RunSum[]; clients: readonly ClientSum[]; approvals: readonly ApprovalSum[] },
) {
  const { runs, clients, approvals } = sums
  const ofDays = groupRunSums(runs, 'day')
  const all = tally([...ofDays.values()].flat())
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
    by_wedge: byWedge(groupRunSums(runs, 'wedge')),
    by_day: byDay(days, ofDays),
    by_client: byClient(clients),
    approvals: approvalCounts(approvals),
  }
}

function byWedge(ofWedges: RunSumGroups) {
  return [...ofWedges]
    .map(([wedge, ofWedge]) => ({ wedge, ...tally(ofWedge) }))
    .map(({ wedge, runs, successRate, costUsd }) => ({ wedge, runs, success_rate: successRate, cost_usd: costUsd }))
    .toSorted((a, b) => b.runs - a.runs || (a.wedge < b.wedge ? -1 : 1))
}

function byDay(days: readonly string[], ofDays: RunSumGroups) {
  return days.map((day) => {
    const { runs, of, costUsd } = tally(ofDays.get(day) ?? [])
    return { day, runs, succeeded: of('succeeded'), cost_usd: costUsd }
  })
}

function byClient(clients: readonly ClientSum[]) {
  return clients
    .toSorted((a, b) => b.cost_micros - a.cost_micros)
    .slice(0, MAX_CLIENTS_SHOWN)
    .map(({ client_id, runs, cost_micros }) => ({ client_id, runs, cost_usd: cost_micros / 1e6 }))
}

/** A task that has not ended counts as a run, but not for the success rate. */
function tally(sums: readonly RunSum[]) {
  const of = (status: string) => sum(sums.filter((row) => row.status === status).map(({ runs }) => runs))
  const ended = sum(TERMINAL_STATUSES.map(of))
  return {
    runs: sum(sums.map(({ runs }) => runs)),
    of,
    successRate: ended === 0 ? 0 : of('succeeded') / ended,
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
  for (const row of approvals) {
    const wait = row.wait_ms ?? approvalWaitMs(row)
    if (wait !== NO_WAIT) counts.set(wait, (counts.get(wait) ?? 0) + row.n)
  }
  const median = medianOfCounts(counts)
  return median === null ? null : median / 1000
}

type RunSumGroups = Map<string, RunSum[]>

function groupRunSums(sums: readonly RunSum[], by: RunSum['by']): RunSumGroups {
  const groups: RunSumGroups = new Map()
  for (const row of sums.filter((one) => one.by === by)) {
    const group = groups.get(row.name)
    if (group) group.push(row)
    else groups.set(row.name, [row])
  }
  return groups
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0)
