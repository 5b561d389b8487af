import { setImmediate } from 'node:timers/promises'
import { approvalIdsInOrder } from '../approvals/ordered-id-rows.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'
import { taskIdsInOrder } from '../tasks/ordered-id-rows.ts'
import { approvalWaitMs } from './approval-wait.ts'
import {
  APPROVAL_COLUMNS,
  findRollupMark,
  type RollupApproval,
  type RollupTask,
  type SourceName,
  TASK_COLUMNS,
} from './rollup-rows.ts'
import type { ApprovalSum, ClientSum, DaySum, ReportRange, WedgeSum } from './rows.ts'

/** About 5 ms on SQLite. Other requests get their turn after each step. */
export const LIVE_ROWS_PER_STEP = 500

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
  for await (const tasks of readLiveRows(db, range, LIVE_TASKS)) {
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
  for await (const approvals of readLiveRows(db, range, LIVE_APPROVALS)) {
    for (const row of approvals) {
      if (row.path === 'question') continue
      const { status, wait_ms } = { status: row.status, wait_ms: approvalWaitMs(row) }
      const key = `${status} ${wait_ms}`
      sums.set(key, { status, wait_ms, n: (sums.get(key)?.n ?? 0) + 1 })
    }
  }
  return [...sums.values()]
}

/** How the rows of one table that are not rolled up are read, `LIVE_ROWS_PER_STEP` at a time. */
interface LiveSource<Row> {
  source: SourceName
  /** The rows in `report_open`, which lie before the mark. */
  readOpen: (db: Db, step: LiveStep) => Promise<Row[]>
  /** The rows after the mark. */
  readNew: (db: Db, step: LiveStep) => Promise<Row[]>
}

interface LiveStep {
  projectId: string
  after: string
}

type StepArgument = <Name extends keyof LiveStep>(name: Name) => LiveStep[Name]

const LIVE_TASKS: LiveSource<RollupTask> = {
  source: 'tasks',
  readOpen: prepareQuery((db, arg) =>
    openRows(db, 'tasks', arg)
      .innerJoin('tasks', 'tasks.id', 'report_open.id')
      .select(TASK_COLUMNS.map((column) => `tasks.${column}` as const)),
  ),
  readNew: prepareQuery((db, arg) => {
    const range = { projectId: arg('projectId'), after: arg('after') }
    const ids = taskIdsInOrder(db, range, 'asc', LIVE_ROWS_PER_STEP)
    return db.selectFrom('tasks').select(TASK_COLUMNS).where('id', 'in', ids).orderBy('id')
  }),
}

const LIVE_APPROVALS: LiveSource<RollupApproval> = {
  source: 'approvals',
  readOpen: prepareQuery((db, arg) =>
    openRows(db, 'approvals', arg)
      .innerJoin('approvals', 'approvals.id', 'report_open.id')
      .select(APPROVAL_COLUMNS.map((column) => `approvals.${column}` as const)),
  ),
  readNew: prepareQuery((db, arg) => {
    const range = { projectId: arg('projectId'), after: arg('after') }
    const ids = approvalIdsInOrder(db, range, 'asc', LIVE_ROWS_PER_STEP)
    return db.selectFrom('approvals').select(APPROVAL_COLUMNS).where('id', 'in', ids).orderBy('id')
  }),
}

function openRows(db: Db, source: SourceName, arg: StepArgument) {
  return db
    .selectFrom('report_open')
    .where('report_open.project_id', '=', arg('projectId'))
    .where('report_open.source', '=', source)
    .where('report_open.id', '>', arg('after'))
    .orderBy('report_open.id')
    .limit(LIVE_ROWS_PER_STEP)
}

/** The rows of the range that are not in the sums, in steps: the open ones before the mark, and all after it. */
async function* readLiveRows<Row extends { id: string; created_at: string }>(
  db: Db,
  { projectIds, from, to }: ReportRange,
  { source, readOpen, readNew }: LiveSource<Row>,
): AsyncGenerator<Row[]> {
  for (const projectId of projectIds) {
    const steps = [
      { start: '', readStep: readOpen },
      { start: await findRollupMark(db, projectId, source), readStep: readNew },
    ]
    for (const { start, readStep } of steps) {
      for (let after: string | undefined = start; after !== undefined; ) {
        const rows: Row[] = await readStep(db, { projectId, after })
        yield rows.filter(({ created_at }) => created_at >= from && created_at.slice(0, 10) <= to)
        after = rows.length < LIVE_ROWS_PER_STEP ? undefined : rows.at(-1)?.id
        await setImmediate()
      }
    }
  }
}
