import { setImmediate } from 'node:timers/promises'
import type { Db } from '../store/store.ts'
import { approvalWaitMs } from './approval-wait.ts'
import { APPROVAL_SOURCE, findRollupMark, type RollupSource, TASK_SOURCE } from './rollup-rows.ts'
import type { ApprovalSum, ClientSum, DaySum, ReportRange, WedgeSum } from './rows.ts'

/** About 5 ms on SQLite. Other requests get their turn after each step. */
export const LIVE_ROWS_PER_STEP = 500

export interface LiveTaskSums {
  days: DaySum[]
  wedges: WedgeSum[]
  /** By the client's id. */
  clients: Map<string, ClientSum>
}

/** The sums of the tasks that are not rolled up. */
export async function sumLiveTasks(db: Db, range: ReportRange): Promise<LiveTaskSums> {
  const days = new Map<string, DaySum>()
  const wedges = new Map<string, WedgeSum>()
  const clients = new Map<string, ClientSum>()
  for await (const tasks of readLiveRows(db, range, TASK_SOURCE)) {
    for (const { created_at, wedge, status, client_id, cost_micros } of tasks) {
      const day = created_at.slice(0, 10)
      const ofDay = addRun(days, day, cost_micros, { day, runs: 0, succeeded: 0, cost_micros: 0 })
      if (status === 'succeeded') ofDay.succeeded++
      addRun(wedges, `${status} ${wedge}`, cost_micros, { wedge, status, runs: 0, cost_micros: 0 })
      if (client_id !== null) addRun(clients, client_id, cost_micros, { client_id, runs: 0, cost_micros: 0 })
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
  for await (const approvals of readLiveRows(db, range, APPROVAL_SOURCE)) {
    for (const row of approvals) {
      if (row.path === 'question') continue
      const { status, wait_ms } = { status: row.status, wait_ms: approvalWaitMs(row) }
      const key = `${status} ${wait_ms}`
      sums.set(key, { status, wait_ms, n: (sums.get(key)?.n ?? 0) + 1 })
    }
  }
  return [...sums.values()]
}

/** The rows of the range that are not in the sums, in steps: the open ones before the mark, and all after it. */
async function* readLiveRows<Row extends { id: string; created_at: string }>(
  db: Db,
  { projectId, from, to }: ReportRange,
  { source, read, readOpen }: RollupSource<Row>,
): AsyncGenerator<Row[]> {
  const steps = [
    { after: '', readStep: readOpen },
    { after: await findRollupMark(db, projectId, source), readStep: read },
  ]
  for (const { after: start, readStep } of steps) {
    for (let after: string | undefined = start; after !== undefined; ) {
      const rows: Row[] = await readStep(db, { projectId, after, limit: LIVE_ROWS_PER_STEP })
      yield rows.filter(({ created_at }) => created_at >= from && created_at.slice(0, 10) <= to)
      after = rows.length < LIVE_ROWS_PER_STEP ? undefined : rows.at(-1)?.id
      await setImmediate()
    }
  }
}
