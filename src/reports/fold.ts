import { makeId } from '../base/ids.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { isTerminal, TERMINAL } from '../tasks/status.ts'
import {
  addApprovals,
  addClients,
  addRuns,
  approvalsIn,
  type FoldedTask,
  keepOpen,
  markOf,
  moveMark,
  openApprovals,
  openTasks,
  projectIds,
  type Source,
  type Stretch,
  takeOpen,
  tasksIn,
} from './fold-rows.ts'
import { spansAround } from './spans.ts'
import { waitOf } from './wait.ts'

/**
 * Ids are made before their row is committed, and by clocks that are not quite the same. What is this old has been
 * committed, so no row can still appear behind the mark.
 */
const SETTLED_MS = 10 * 60_000
const PAGE = 1000

/**
 * Folds what is final into sums by day, once, so that a report over a year reads days and not tasks; finishing a task
 * costs nothing more for it. Run by every replica; answers how many rows were looked at.
 *
 * A row behind the mark is either in the sums or in `report_open`, and moves from there into the sums when it is final.
 */
export async function foldReports(ctx: Ctx): Promise<number> {
  let seen = 0
  for (const projectId of await projectIds(ctx.db)) {
    seen += await foldSource(ctx, projectId, TASKS)
    seen += await foldSource(ctx, projectId, APPROVALS)
  }
  return seen
}

/** What differs between the two: where rows come from, when they are final and what becomes of them. */
interface Folding<Row extends { id: string }> {
  source: Source
  firstId(ms: number): string
  read(ctx: Ctx, stretch: Stretch): Promise<Row[]>
  readOpen(ctx: Ctx, projectId: string, limit: number): Promise<Row[]>
  isFinal(row: Row): boolean
  add(tx: Tx, projectId: string, rows: Row[]): Promise<void>
}

type Approval = Awaited<ReturnType<typeof approvalsIn>>[number]

const noChance = (bytes: number) => new Uint8Array(bytes)

const TASKS: Folding<FoldedTask> = {
  source: 'tasks',
  firstId: (ms) => makeId('task', ms, noChance),
  read: (ctx, stretch) => tasksIn(ctx.db, stretch),
  readOpen: (ctx, projectId, limit) => openTasks(ctx.db, projectId, TERMINAL, limit),
  isFinal: ({ status }) => isTerminal(status),
  add: addTasks,
}

const APPROVALS: Folding<Approval> = {
  source: 'approvals',
  firstId: (ms) => makeId('apr', ms, noChance),
  read: (ctx, stretch) => approvalsIn(ctx.db, stretch),
  readOpen: (ctx, projectId, limit) => openApprovals(ctx.db, projectId, limit),
  isFinal: ({ status }) => status !== 'pending',
  add: addDecisions,
}

async function foldSource<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Folding<Row>) {
  let seen = 0
  for (let more = PAGE; more === PAGE; seen += more) more = await foldOpen(ctx, projectId, folding)
  for (let more = PAGE; more === PAGE; seen += more) more = await foldNew(ctx, projectId, folding)
  return seen
}

async function foldNew<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Folding<Row>) {
  const { source } = folding
  const after = await markOf(ctx.db, projectId, source)
  const upTo = folding.firstId(ctx.world.clock.now() - SETTLED_MS)
  const rows = await folding.read(ctx, { projectId, after, upTo, limit: PAGE })
  const last = rows.at(-1)
  if (!last) return 0
  const final = rows.filter((row) => folding.isFinal(row))
  const open = rows.filter((row) => !folding.isFinal(row)).map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    if (!(await moveMark(tx.db, projectId, source, after, last.id))) return
    await keepOpen(tx.db, projectId, source, open)
    await folding.add(tx, projectId, final)
  })
  return rows.length
}

async function foldOpen<Row extends { id: string }>(ctx: Ctx, projectId: string, folding: Folding<Row>) {
  const rows = await folding.readOpen(ctx, projectId, PAGE)
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await inTx(ctx, async (tx) => {
    const taken = await takeOpen(tx.db, projectId, folding.source, ids)
    const ours = rows.filter(({ id }) => taken.has(id))
    await folding.add(tx, projectId, ours)
  })
  return rows.length
}

async function addTasks(tx: Tx, project_id: string, rows: FoldedTask[]): Promise<void> {
  const counted = rows.map((row) => ({ ...row, day: dayOf(row), runs: 1 }))
  const runs = sums(counted, ({ day, wedge, status }) => [day, wedge, status])
  await addRuns(
    tx.db,
    runs.map(({ day, wedge, status, runs, cost_micros }) => ({ project_id, day, wedge, status, runs, cost_micros })),
  )
  const ofClients = counted.flatMap(({ client_id, day, runs, cost_micros }) =>
    client_id === null ? [] : spansAround(day).map((span) => ({ project_id, span, client_id, runs, cost_micros })),
  )
  await addClients(
    tx.db,
    sums(ofClients, ({ span, client_id }) => [span, client_id]),
  )
}

async function addDecisions(tx: Tx, project_id: string, rows: Approval[]): Promise<void> {
  const waits = rows.flatMap((row) =>
    spansAround(dayOf(row)).map((span) => ({
      span,
      status: row.status,
      wait_ms: waitOf(row),
      runs: 1,
      cost_micros: 0,
    })),
  )
  const counted = sums(waits, ({ span, status, wait_ms }) => [span, status, wait_ms])
  await addApprovals(
    tx.db,
    counted.map(({ span, status, wait_ms, runs }) => ({ project_id, span, status, wait_ms, n: runs })),
  )
}

const dayOf = ({ created_at }: { created_at: string }) => created_at.slice(0, 10)

/** One row a key, in the order of the keys: replicas that add the same ones lock them in the same order. */
function sums<Row extends { runs: number; cost_micros: number }>(
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
