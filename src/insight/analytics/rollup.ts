import { setImmediate } from 'node:timers/promises'
import { lockChainHead } from '../../audit/rows.ts'
import { createId } from '../../platform/base/ids.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { isTerminalStatus } from '../../work/tasks/status.ts'
import type { Db } from '../../platform/store/store.ts'
import { approvalWaitMs } from './approval-wait.ts'
import { periodsOfDay } from './periods.ts'
import {
  addApprovalSums,
  addClientSums,
  addRunSums,
  APPROVAL_SOURCE,
  deleteOpenIds,
  findRollupMark,
  insertOpenIds,
  listAllProjectIds,
  listOpenIds,
  type RollupApproval,
  type RollupSource,
  type RollupTask,
  TASK_SOURCE,
  updateRollupMark,
} from './rollup-rows.ts'
import { sumByKey } from './sum-by-key.ts'

/** By then most tasks have ended, so that few of them have to be noted as open. */
export const MIN_ROLLUP_AGE_MS = 10_000
const ROLLUP_PAGE = 500

/**
 * Adds finished tasks and decided approvals to sums by day, once each. A report over a year then reads days, not tasks,
 * and finishing a task writes nothing extra. All replicas can run this; it returns how many rows were read.
 *
 * A row before the mark is either in the sums or, while it is not final, in `report_open`. A row that is committed after
 * the mark has passed its id is inserted into `report_open` too (`insertReportRowIfLate`).
 */
export async function rollUpReports(ctx: Ctx): Promise<number> {
  let read = await rollUpNewRowsOf(ctx, await listAllProjectIds(ctx.db))
  for (const projectId of await listAllProjectIds(ctx.db)) {
    read += await rollUpOpenRows(ctx, projectId, TASK_ROLLUP)
    read += await rollUpOpenRows(ctx, projectId, APPROVAL_ROLLUP)
  }
  return read
}

/** Rolls up the rows that were created since the last time, so that a report reads only the newest ones one by one. */
export async function rollUpNewRowsOf(ctx: Ctx, projectIds: readonly string[]): Promise<number> {
  let read = 0
  for (const projectId of projectIds) {
    read += await rollUpAllNewRows(ctx, projectId, TASK_ROLLUP)
    read += await rollUpAllNewRows(ctx, projectId, APPROVAL_ROLLUP)
  }
  return read
}

/** The differences between tasks and approvals: how rows are read, when they are final and how they are added. */
interface Rollup<Row extends { id: string }> extends RollupSource<Row> {
  firstId(ms: number): string
  isFinal(row: Row): boolean
  add(tx: Tx, projectId: string, rows: Row[]): Promise<void>
}

const zeroBytes = (bytes: number) => new Uint8Array(bytes)

const TASK_ROLLUP: Rollup<RollupTask> = {
  ...TASK_SOURCE,
  firstId: (ms) => createId('task', ms, zeroBytes),
  isFinal: ({ status }) => isTerminalStatus(status),
  add: addTaskSums,
}

const APPROVAL_ROLLUP: Rollup<RollupApproval> = {
  ...APPROVAL_SOURCE,
  firstId: (ms) => createId('apr', ms, zeroBytes),
  // A question is not counted.
  isFinal: ({ status, path }) => status !== 'pending' || path === 'question',
  add: addDecisionSums,
}

async function rollUpAllNewRows<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  let read = 0
  for (let more = ROLLUP_PAGE; more === ROLLUP_PAGE; read += more) {
    // Other requests get their turn.
    await setImmediate()
    more = await rollUpNewRows(ctx, projectId, rollup)
  }
  return read
}

async function rollUpNewRows<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  const { source } = rollup
  const upTo = rollup.firstId(ctx.world.clock.now() - MIN_ROLLUP_AGE_MS)
  const readAfterMark = async (db: Db, limit: number) => {
    const after = await findRollupMark(db, projectId, source)
    return { after, rows: await rollup.read(db, { projectId, after, upTo, limit }) }
  }
  if ((await readAfterMark(ctx.db, 1)).rows.length === 0) return 0
  return inTx(ctx, async (tx) => {
    // Transactions that insert rows hold this lock too, so no row can appear before the mark unnoticed.
    await lockChainHead(tx.db, { chain: projectId })
    const { after, rows } = await readAfterMark(tx.db, ROLLUP_PAGE)
    const last = rows.at(-1)
    if (!last || !(await updateRollupMark(tx.db, projectId, source, after, last.id))) return 0
    const open = rows.filter((row) => !rollup.isFinal(row)).map(({ id }) => id)
    await insertOpenIds(tx.db, projectId, source, open)
    await rollup.add(
      tx,
      projectId,
      rows.filter((row) => rollup.isFinal(row)),
    )
    return rows.length
  })
}

async function rollUpOpenRows<Row extends { id: string }>(ctx: Ctx, projectId: string, rollup: Rollup<Row>) {
  const { source } = rollup
  let read = 0
  for (let after = ''; ; ) {
    await setImmediate()
    const ids = await listOpenIds(ctx.db, projectId, source, after, ROLLUP_PAGE)
    const rows = ids.length === 0 ? [] : await rollup.readById(ctx.db, ids)
    const final = rows.filter((row) => rollup.isFinal(row))
    if (final.length > 0) await inTx(ctx, (tx) => addOpenRows(tx, projectId, rollup, final))
    read += final.length
    if (ids.length < ROLLUP_PAGE) return read
    after = ids.at(-1) ?? after
  }
}

/** Adds the rows that no other replica has added. */
async function addOpenRows<Row extends { id: string }>(tx: Tx, projectId: string, rollup: Rollup<Row>, rows: Row[]) {
  const ids = rows.map(({ id }) => id)
  const taken = await deleteOpenIds(tx.db, projectId, rollup.source, ids)
  await rollup.add(
    tx,
    projectId,
    rows.filter(({ id }) => taken.has(id)),
  )
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
  // A question approves nothing, and clients may take days to answer.
  const decisions = rows.filter(({ path }) => path !== 'question')
  const waits = decisions.flatMap((row) =>
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
