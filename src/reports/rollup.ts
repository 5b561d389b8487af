import { createId } from '../base/ids.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { isTerminalStatus, TERMINAL_STATUSES } from '../tasks/status.ts'
import { approvalWaitMs } from './approval-wait.ts'
import { periodsOfDay } from './periods.ts'
import {
  addApprovalSums,
  addClientSums,
  addRunSums,
  deleteOpenIds,
  findRollupMark,
  type IdRange,
  insertOpenIds,
  listAllProjectIds,
  listApprovalsInRange,
  listDecidedOpenApprovals,
  listFinishedOpenTasks,
  listTasksInRange,
  type RollupSource,
  type RollupTask,
  updateRollupMark,
} from './rollup-rows.ts'

/**
 * An id is created before its row is committed, and the clocks of replicas differ a little. Rows of this age have been
 * committed, so no new row can appear before the mark.
 */
const SETTLED_AGE_MS = 10 * 60_000
const ROLLUP_PAGE = 1000

/**
 * Adds finished tasks and decided approvals to sums by day, once each. A report over a year then reads days, not tasks,
 * and finishing a task writes nothing extra. All replicas can run this; it returns how many rows were read.
 *
 * A row before the mark is either in the sums or, while it is not final, in `report_open`.
 */
export async function rollUpReports(ctx: Ctx): Promise<number> {
  let read = 0
  for (const projectId of await listAllProjectIds(ctx.db)) {
    read += await rollUpSource(ctx, projectId, TASK_ROLLUP)
    read += await rollUpSource(ctx, projectId, APPROVAL_ROLLUP)
  }
  return read
}

/** The differences between tasks and approvals: how rows are read, when they are final and how they are added. */
interface Rollup<Row extends { id: string }> {
  source: RollupSource
  firstId(ms: number): string
  read(ctx: Ctx, range: IdRange): Promise<Row[]>
  readOpen(ctx: Ctx, projectId: string, limit: number): Promise<Row[]>
  isFinal(row: Row): boolean
  add(tx: Tx, projectId: string, rows: Row[]): Promise<void>
}

type RollupApproval = Awaited<ReturnType<typeof listApprovalsInRange>>[number]

const zeroBytes = (bytes: number) => new Uint8Array(bytes)

const TASK_ROLLUP: Rollup<RollupTask> = {
  source: 'tasks',
  firstId: (ms) => createId('task', ms, zeroBytes),
  read: (ctx, range) => listTasksInRange(ctx.db, range),
  readOpen: (ctx, projectId, limit) => listFinishedOpenTasks(ctx.db, projectId, TERMINAL_STATUSES, limit),
  isFinal: ({ status }) => isTerminalStatus(status),
  add: addTaskSums,
}

const APPROVAL_ROLLUP: Rollup<RollupApproval> = {
  source: 'approvals',
  firstId: (ms) => createId('apr', ms, zeroBytes),
  read: (ctx, range) => listApprovalsInRange(ctx.db, range),
  readOpen: (ctx, projectId, limit) => listDecidedOpenApprovals(ctx.db, projectId, limit),
  isFinal: ({ status }) => status !== 'pending',
  add: addDecisionSums,
}

async function rollUpSource<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  let read = 0
  for (let more = ROLLUP_PAGE; more === ROLLUP_PAGE; read += more) more = await rollUpOpenRows(ctx, projectId, rollup)
  for (let more = ROLLUP_PAGE; more === ROLLUP_PAGE; read += more) more = await rollUpNewRows(ctx, projectId, rollup)
  return read
}

async function rollUpNewRows<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  const { source } = rollup
  const after = await findRollupMark(ctx.db, projectId, source)
  const upTo = rollup.firstId(ctx.world.clock.now() - SETTLED_AGE_MS)
  const rows = await rollup.read(ctx, { projectId, after, upTo, limit: ROLLUP_PAGE })
  const last = rows.at(-1)
  if (!last) return 0
  const final = rows.filter((row) => rollup.isFinal(row))
  const open = rows.filter((row) => !rollup.isFinal(row)).map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    if (!(await updateRollupMark(tx.db, projectId, source, after, last.id))) return
    await insertOpenIds(tx.db, projectId, source, open)
    await rollup.add(tx, projectId, final)
  })
  return rows.length
}

async function rollUpOpenRows<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  const rows = await rollup.readOpen(ctx, projectId, ROLLUP_PAGE)
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    const taken = await deleteOpenIds(tx.db, projectId, rollup.source, ids)
    await rollup.add(
      tx,
      projectId,
      rows.filter(({ id }) => taken.has(id)),
    )
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
  const perClient = counted.flatMap(({ client_id, day, runs, cost_micros }) =>
    client_id === null ? [] : periodsOfDay(day).map((span) => ({ project_id, span, client_id, runs, cost_micros })),
  )
  await addClientSums(
    tx.db,
    sumByKey(perClient, ({ span, client_id }) => [span, client_id]),
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

/** One row per key, sorted by key: replicas that add to the same rows lock them in the same order. */
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
