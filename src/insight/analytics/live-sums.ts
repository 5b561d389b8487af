import type { Db } from '../../platform/store/store.ts'
import { approvalWaitMs } from './approval-wait.ts'
import { readLiveApprovals, readLiveTasks } from './live-rows.ts'
import type { ClientSum } from './client-rows.ts'
import type { ApprovalSum, DaySum, ReportRange, WedgeSum } from './rows.ts'

export interface LiveTaskSums {
  days: DaySum[]
  wedges: WedgeSum[]
  /** By the client's id. */
  clients: Map<string, LiveClientSum>
}

interface LiveClientSum extends ClientSum {
  project_id: string
}

/** The sums of the tasks that are not rolled up. */
export async function sumLiveTasks(db: Db, range: ReportRange): Promise<LiveTaskSums> {
  const days = new Map<string, DaySum>()
  const wedges = new Map<string, WedgeSum>()
  const clients = new Map<string, LiveClientSum>()
  for await (const tasks of readLiveTasks(db, range)) {
    for (const { project_id, created_at, wedge, status, client_id, cost_micros } of tasks) {
      const day = created_at.slice(0, 10)
      const ofDay = addRun(days, day, cost_micros, { day, runs: 0, succeeded: 0, cost_micros: 0 })
      if (status === 'succeeded') ofDay.succeeded++
      addRun(wedges, `${status} ${wedge}`, cost_micros, { wedge, status, runs: 0, cost_micros: 0 })
      if (client_id !== null)
        addRun(clients, client_id, cost_micros, { project_id, client_id, runs: 0, cost_micros: 0 })
    }
  }
  return { days: [...days.values()], wedges: [...wedges.values()], clients }
}

/** Adds a run to the sum of a key; the first one of a key is added to `start`. */
function addRun<Sum extends { runs: number; cost_micros: number }>(
  sums: Map<string, Sum>,
  key: string,
  cost: number,
  start: Sum,
): Sum {
  const sum = sums.get(key) ?? start
  sums.set(key, sum)
  sum.runs++
  sum.cost_micros += cost
  return sum
}

/** The counts of the approvals that are not rolled up, without questions. */
export async function countLiveApprovals(db: Db, range: ReportRange): Promise<ApprovalSum[]> {
  const sums = new Map<string, ApprovalSum>()
  for await (const approvals of readLiveApprovals(db, range)) {
    for (const row of approvals) {
      if (row.path === 'question') continue
      const { status, wait_ms } = { status: row.status, wait_ms: approvalWaitMs(row) }
      const key = `${status} ${wait_ms}`
      sums.set(key, { status, wait_ms, n: (sums.get(key)?.n ?? 0) + 1 })
    }
  }
  return [...sums.values()]
}
