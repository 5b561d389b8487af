import { createId } from '../base/ids.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { isTerminalStatus, TERMINAL_STATUSES } from '../tasks/status.ts'
import {
  addApprovalSums,
  addClientSums,
  addRunSums,
  listApprovalsInRange,
  type RollupTask,
  insertOpenIds,
  findRollupMark,
  updateRollupMark,
  listDecidedOpenApprovals,
  listFinishedOpenTasks,
  listAllProjectIds,
  type RollupSource,
  type IdRange,
  deleteOpenIds,
  listTasksInRange,
} from './rollup-rows.ts'
import { periodsOfDay } from './periods.ts'
import { approvalWaitMs } from './approval-wait.ts'

/**
 * Ids are made before their row is committed, and by clocks that are not quite the same. What is this old has been
 * committed, so no row can still appear behind the mark.
 */
const SETTLED_AGE_MS = 10 * 60_000
const ROLLUP_PAGE = 1000

/**
 * Folds what is final into sums by day, once, so that a report over a year reads days and not tasks; finishing a task
 * costs nothing more for it. Run by every replica; answers how many rows were looked at.
 *
 * A row behind the mark is either in the sums or in `report_open`, and moves from there into the sums when it is final.
 */
export async function rollUpReports(ctx: Ctx): Promise<number> {
  let seen = 0
  for (const projectId of await listAllProjectIds(ctx.db)) {
    seen += await rollUpSource(ctx, projectId, TASK_ROLLUP)
    seen += await rollUpSource(ctx, projectId, APPROVAL_ROLLUP)
  }
  return seen
}

/** What differs between the two: where rows come from, when they are final and what becomes of them. */
interface Rollup<Row extends { id: string }> {
  source: RollupSource
  firstId(ms: number): string
  read(ctx: Ctx, stretch: IdRange): Promise<Row[]>
  readOpen(ctx: Ctx, projectId: string, limit: number): Promise<Row[]>
  isFinal(row: Row): boolean
  add(tx: Tx, projectId: string, rows: Row[]): Promise<void>
}

type RollupApproval = Awaited<ReturnType<typeof listApprovalsInRange>>[number]

const zeroBytes = (bytes: number) => new Uint8Array(bytes)

const TASK_ROLLUP: Rollup<RollupTask> = {
  source: 'tasks',
  firstId: (ms) => createId('task', ms, zeroBytes),
  read: (ctx, stretch) => listTasksInRange(ctx.db, stretch),
  readOpen: (ctx, projectId, limit) => listFinishedOpenTasks(ctx.db, projectId, TERMINAL_STATUSES, limit),
  isFinal: ({ status }) => isTerminalStatus(status),
  add: addTaskSums,
}

const APPROVAL_ROLLUP: Rollup<RollupApproval> = {
  source: 'approvals',
  firstId: (ms) => createId('apr', ms, zeroBytes),
  read: (ctx, stretch) => listApprovalsInRange(ctx.db, stretch),
  readOpen: (ctx, projectId, limit) => listDecidedOpenApprovals(ctx.db, projectId, limit),
  isFinal: ({ status }) => status !== 'pending',
  add: addDecisionSums,
}

async function rollUpSource<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Rollup<Row>) {
  let seen = 0
  for (let more = ROLLUP_PAGE; more === ROLLUP_PAGE; seen += more) more = await rollUpOpenRows(ctx, projectId, folding)
  for (let more = ROLLUP_PAGE; more === ROLLUP_PAGE; seen += more) more = await rollUpNewRows(ctx, projectId, folding)
  return seen
}

async function rollUpNewRows<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Rollup<Row>) {
  const { source } = folding
  const after = await findRollupMark(ctx.db, projectId, source)
  const upTo = folding.firstId(ctx.world.clock.now() - SETTLED_AGE_MS)
  const rows = await folding.read(ctx, { projectId, after, upTo, limit: ROLLUP_PAGE })
  const last = rows.at(-1)
  if (!last) return 0
  const final = rows.filter((row) => folding.isFinal(row))
  const open = rows.filter((row) => !folding.isFinal(row)).map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    if (!(await updateRollupMark(tx.db, projectId, source, after, last.id))) return
    await insertOpenIds(tx.db, projectId, source, open)
    await folding.add(tx, projectId, final)
  })
  return rows.length
}

async function rollUpOpenRows<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Rollup<Row>) {
  const rows = await folding.readOpen(ctx, projectId, ROLLUP_PAGE)
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    const taken = await deleteOpenIds(tx.db, projectId, folding.source, ids)
    const ours = rows.filter(({ id }) => taken.has(id))
    await folding.add(tx, projectId, ours)
  })
  return rows.length
}

async function addTaskSums(tx: Tx, project_id: string, rows: RollupTask[]): Promise<void> {
  const counted = rows.map((row) => ({ ...row, day: dayOf(row), runs: 1 }))
  const runs = sumByKey(counted, ({ day, wedge, status }) => [day, wedge, status])
  await addRunSums(
    tx.db,
    runs.map(({ day, wedge, status, runs, cost_micros }) => ({ project_id, day, wedge, status, runs, cost_micros })),
  )
  const ofClients = counted.flatMap(({ client_id, day, runs, cost_micros }) =>
    client_id === null ? [] : periodsOfDay(day).map((span) => ({ project_id, span, client_id, runs, cost_micros })),
  )
  await addClientSums(
    tx.db,
    sumByKey(ofClients, ({ span, client_id }) => [span, client_id]),
  )
}

async function addDecisionSums(tx: Tx, project_id: string, rows: RollupApproval[]): Promise<void> {
  const waits = rows.flatMap((row) =>
    periodsOfDay(dayOf(row)).map((span) => ({
      span,
      status: row.status,
      wait_ms: approvalWaitMs(row),
      runs: 1,
      cost_micros: 0,
    })),
  )
  const counted = sumByKey(waits, ({ span, status, wait_ms }) => [span, status, wait_ms])
  await addApprovalSums(
    tx.db,
    counted.map(({ span, status, wait_ms, runs }) => ({ project_id, span, status, wait_ms, n: runs })),
  )
}

const dayOf = ({ created_at }: { created_at: string }) => created_at.slice(0, 10)

/** One row a key, in the order of the keys: replicas that add the same ones lock them in the same order. */
function sumByKey<Row extends { runs: number; cost_micros: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => (string | number)[],
): Row[] {
  const byKey = new Map<string, Row>()
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row))
    const sum = byKey.get(key)
    byKey.set(key, sum ? { ...sum, runs: sum.runs + row.runs, cost_micros: sum.cost_micros + row.cost_micros } : row)
  }
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
