import { LateAbort } from '../base/late-abort.ts'
import { messageOf } from '../base/message-of.ts'
import type { Manifest } from '../base/wedge.ts'
import { grantFor, missingConnections } from '../connections/grants.ts'
import { type Ctx, inTxAtLast, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { RunOver, write } from '../events/append.ts'
import { changed } from '../events/changes.ts'
import type { LineDoor } from '../http/lines.ts'
import { chooseModel } from '../models/choose.ts'
import { untilBack } from '../store/away.ts'
import type { QueuedTask } from '../store/tables.ts'
import { constraintsOf, inputOf, toolsOf } from '../tasks/record.ts'
import { startRunning } from '../tasks/state-rows.ts'
import type { TaskError } from '../tasks/status.ts'
import { executesCode, toolsFor } from '../tasks/tools.ts'
import { findTaskType } from '../wedges/task-type.ts'
import { briefFor } from './brief.ts'
import type { CellPool } from './cell-pool.ts'
import type { OpenCell } from './cells.ts'
import type { Claimed, Starter } from './claim.ts'
import { conclude, fail } from './conclude.ts'
import { converse } from './converse.ts'
import { openRun, type Run, type RunParts } from './run.ts'

/** What the runner lends to a run. */
export interface Workplace {
  ctx: Ctx
  pool: CellPool
  /** The name of the sandbox, for `task.created`. */
  sandbox: string
  /** Answers what agents ask by their pipes. */
  door: LineDoor<Run>
  /** Fires when nothing is waited for any more: the process goes. */
  stopping: AbortSignal
  /** Makes the run known, and its tokens good, until the returned function is called. */
  admit(run: Run): () => void
}

/** One execution of a claimed task, from its grant to its last event. Never throws: a task always ends. */
export async function carryOut(place: Workplace, claimed: Claimed): Promise<void> {
  const { ctx } = place
  const { task } = claimed
  try {
    const parts = await untilBack(() => gather(ctx, task), place.stopping)
    if ('reason' in parts) return await fail(ctx, { taskId: task.id, epoch: task.epoch }, parts)
    await carryOutRun(place, openRun(ctx, task, parts), claimed)
  } catch (error) {
    if (error instanceof RunOver) return
    ctx.world.log.error({ err: error, task: task.id }, 'run failed')
    await fail(ctx, { taskId: task.id, epoch: task.epoch }, sandboxFailed(error)).catch((cause) =>
      ctx.world.log.error({ err: cause, task: task.id }, 'the end of a run could not be written'),
    )
  }
}

async function carryOutRun(place: Workplace, run: Run, { task, begun }: Claimed): Promise<void> {
  const { ctx, pool } = place
  const dismiss = place.admit(run)
  let cell: OpenCell | null = null
  try {
    cell = await cellFor(pool, run.wedge.manifest, task)
    const { id, kind, socketInside } = cell
    run.cellId = id
    run.hasOwnCell = kind !== 'harness'
    const brief = await untilBack(() => briefFor(ctx, run, socketInside), place.stopping)
    if (!begun) await inTxAtLast(ctx, (tx) => begin(tx, task, place.sandbox), place.stopping)
    const outcome = await converse(place, run, cell, brief)
    // From here on the tokens are good for nothing, whatever the agent still tries.
    dismiss()
    const { told } = outcome
    if (told.kind !== 'output' && told.kind !== 'error') cell.abort(run.taskId)
    // A cell that let a run outlive its time may hang: no new run is put into it.
    if (told.kind === 'timeout') pool.retire(cell)
    await run.hangUp()
    await conclude(ctx, run, outcome)
  } finally {
    dismiss()
    if (cell) await pool.leave(cell, run.taskId)
  }
}

/** Everything that must be there before a sandbox is worth starting; or why the task cannot run. */
async function gather(ctx: Ctx, task: QueuedTask): Promise<RunParts | TaskError> {
  const wedge = await ctx.wedges.find(task.wedge)
  if (!wedge) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' is not there any more` }
  const type = findTaskType(wedge, task.task_type)
  if (!type) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' has no '${task.task_type}' any more` }
  const { project_id: projectId, client_id: clientId } = task
  if (type.harness.needs_connections) {
    const missing = await missingConnections(ctx, wedge.manifest, projectId, clientId)
    if (missing.length > 0) {
      return { reason: 'connection_missing', message: `not registered or without a secret: ${missing.join(', ')}` }
    }
  }
  const constraints = constraintsOf(task)
  return {
    wedge,
    type,
    grant: await grantFor(ctx.db, { projectId, clientId, manifest: wedge.manifest }),
    model: {
      taskId: task.id,
      epoch: task.epoch,
      projectId,
      wedge,
      taskType: task.task_type,
      input: inputOf(task),
      model: chooseModel(ctx.config, task.tier),
      maxCostMicros: Math.round(constraints.max_cost_usd * 1e6),
      spentMicros: 0,
      reservedMicros: 0,
      over: new LateAbort(),
      failure: null,
    },
  }
}

/** Runs whose words can become code, and programs that we did not write, get a cell of their own. */
function ownCellOf(pool: CellPool, manifest: Manifest, task: QueuedTask): 'custom' | 'workshop' | null {
  if (pool.custom) return 'custom'
  return executesCode(toolsFor(manifest, toolsOf(task))) ? 'workshop' : null
}

function cellFor(pool: CellPool, manifest: Manifest, task: QueuedTask): Promise<OpenCell> {
  const own = ownCellOf(pool, manifest, task)
  return own ? pool.own(own) : pool.share(task.project_id)
}

/** Begins tasks whose cell is ready as they are claimed. What may still keep one from running is left to the long way. */
export function starterAt({ ctx, pool, sandbox }: Workplace): Starter {
  return {
    canBegin(task) {
      const wedge = ctx.wedges.get(task.wedge)
      const type = wedge && findTaskType(wedge, task.task_type)
      if (!type || type.harness.needs_connections) return false
      const own = ownCellOf(pool, wedge.manifest, task)
      return own ? pool.hasStock(own) : pool.hasReady(task.project_id)
    },
    begun: (tx, tasks) => tellBegun(tx, tasks, sandbox),
  }
}

/** provisioning → running. */
async function begin(tx: Tx, task: QueuedTask, sandbox: string): Promise<void> {
  const { id, epoch } = task
  const [head] = await startRunning(tx.db, { id, epoch, started_at: isoNow(tx) })
  if (!head) throw new RunOver()
  await tellBegun(tx, [task], sandbox)
}

/** `task.created`, always the first event. */
async function tellBegun(tx: Tx, tasks: QueuedTask[], sandbox: string): Promise<void> {
  for (const { id, project_id, wedge, task_type, tier } of tasks) {
    const { provider, name } = chooseModel(tx.config, tier)
    const data = { wedge, task_type, status: 'running', sandbox, model: `${provider}/${name}` } as const
    await write(tx, id, 1, [{ type: 'task.created', data }])
    changed(tx, project_id, { kind: 'task', id, status: 'running' })
  }
}

function sandboxFailed(error: unknown): TaskError {
  return { reason: 'sandbox_failed', message: `the sandbox could not be started: ${messageOf(error).slice(0, 500)}` }
}
