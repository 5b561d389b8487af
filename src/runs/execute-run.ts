import { LazyAbort } from '../base/lazy-abort.ts'
import { errorMessage } from '../base/error-message.ts'
import type { WedgeManifest } from '../contract/wedge-manifest.ts'
import { resolveGrant, listMissingConnections } from '../connections/grants.ts'
import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { RunEndedError, writeEvents } from '../events/append-events.ts'
import { notifyProjectChange } from '../events/project-changes.ts'
import type { PipePlane } from '../http/pipe-plane.ts'
import { chooseModel } from '../models/choose-model.ts'
import { retryUntilAvailable } from '../store/errors.ts'
import type { QueuedTask } from '../store/tables.ts'
import { parseTaskConstraints, parseTaskInput, parseTaskTools } from '../tasks/view.ts'
import type { ClaimedTask, RunStarter } from '../lifecycle/claimed-task.ts'
import { updateTaskRunning } from '../lifecycle/rows.ts'
import type { TaskError } from '../tasks/status.ts'
import { canExecuteCode, toolsOfTask } from '../tasks/tools.ts'
import { findTaskType } from '../wedges/task-type.ts'
import { createBrief } from './create-brief.ts'
import type { CellPool } from './cell-pool.ts'
import type { AgentCell } from './agent-cell.ts'
import { finishRun, failRun } from './finish-run.ts'
import { runAgentSession } from './agent-session.ts'
import { createTaskRun, type TaskRun, type TaskRunParts } from './task-run.ts'

/** What the runner provides for a run. */
export interface RunEnvironment {
  ctx: Ctx
  pool: CellPool
  /** The name of the sandbox, for `task.created`. */
  sandbox: string
  /** Answers the requests that agents send over their pipes. */
  answerPipe: PipePlane<TaskRun>
  /** Aborted when the service stops. */
  stopping: AbortSignal
  /** Makes the run known and its tokens valid, until the returned function is called. */
  registerRun(run: TaskRun): () => void
}

/** Executes a claimed task to its end. Never throws: every claimed task gets an end. */
export async function executeRun(environment: RunEnvironment, claimed: ClaimedTask): Promise<void> {
  const { ctx } = environment
  const { task } = claimed
  try {
    const parts = await retryUntilAvailable(() => gatherRunParts(ctx, task), environment.stopping)
    if ('reason' in parts) return await failRun(ctx, { taskId: task.id, epoch: task.epoch }, parts)
    await executeInCell(environment, createTaskRun(ctx, task, parts), claimed)
  } catch (error) {
    if (error instanceof RunEndedError) return
    ctx.world.log.error({ err: error, task: task.id }, 'run failed')
    await failRun(ctx, { taskId: task.id, epoch: task.epoch }, sandboxError(error)).catch((cause) =>
      ctx.world.log.error({ err: cause, task: task.id }, 'the end of a run could not be stored'),
    )
  }
}

async function executeInCell(
  environment: RunEnvironment,
  run: TaskRun,
  { task, hasStarted }: ClaimedTask,
): Promise<void> {
  const { ctx, pool } = environment
  const unregister = environment.registerRun(run)
  let cell: AgentCell | null = null
  try {
    cell = await acquireCell(pool, run.wedge.manifest, task)
    const { id, kind, socketPathInside } = cell
    run.cellId = id
    run.hasOwnCell = kind !== 'harness'
    const brief = await retryUntilAvailable(() => createBrief(ctx, run, socketPathInside), environment.stopping)
    if (!hasStarted) await inDurableTx(ctx, (tx) => moveToRunning(tx, task, environment.sandbox), environment.stopping)
    const outcome = await runAgentSession(environment, run, cell, brief)
    // From here on the tokens of the run are invalid.
    unregister()
    const { end } = outcome
    if (end.kind !== 'output' && end.kind !== 'error') cell.abort(run.taskId)
    // A cell whose run timed out may hang, so it gets no new runs.
    if (end.kind === 'timeout') pool.retire(cell)
    await run.stopModelCalls()
    await finishRun(ctx, run, outcome)
  } finally {
    unregister()
    if (cell) await pool.release(cell, run.taskId)
  }
}

/** Everything that a run needs before it gets a cell, or the reason why the task cannot run. */
async function gatherRunParts(ctx: Ctx, task: QueuedTask): Promise<TaskRunParts | TaskError> {
  const wedge = await ctx.wedges.find(task.wedge)
  if (!wedge) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' does not exist any more` }
  const type = findTaskType(wedge, task.task_type)
  if (!type) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' has no '${task.task_type}' any more` }
  const { project_id: projectId, client_id: clientId } = task
  if (type.harness.needs_connections) {
    const missing = await listMissingConnections(ctx, wedge.manifest, projectId, clientId)
    if (missing.length > 0) {
      return { reason: 'connection_missing', message: `not registered or without a secret: ${missing.join(', ')}` }
    }
  }
  const constraints = parseTaskConstraints(task)
  return {
    wedge,
    type,
    grant: await resolveGrant(ctx.db, { projectId, clientId, manifest: wedge.manifest }),
    model: {
      taskId: task.id,
      epoch: task.epoch,
      projectId,
      wedge,
      taskType: task.task_type,
      input: parseTaskInput(task),
      model: chooseModel(ctx.config, task.tier),
      maxCostMicros: Math.round(constraints.max_cost_usd * 1e6),
      spentMicros: 0,
      reservedMicros: 0,
      over: new LazyAbort(),
      failure: null,
    },
  }
}

/** Runs that can execute code and custom agents get their own cell; null means the shared cell of the project. */
function ownCellKind(pool: CellPool, manifest: WedgeManifest, task: QueuedTask): 'custom' | 'workshop' | null {
  if (pool.usesCustomAgent) return 'custom'
  return canExecuteCode(toolsOfTask(manifest, parseTaskTools(task))) ? 'workshop' : null
}

function acquireCell(pool: CellPool, manifest: WedgeManifest, task: QueuedTask): Promise<AgentCell> {
  const own = ownCellKind(pool, manifest, task)
  return own ? pool.acquireOwn(own) : pool.acquireShared(task.project_id)
}

/** Starts tasks in the transaction that claims them if their cell is ready and no further check can fail. */
export function createRunStarter({ ctx, pool, sandbox }: RunEnvironment): RunStarter {
  return {
    canStart(task) {
      const wedge = ctx.wedges.get(task.wedge)
      const type = wedge && findTaskType(wedge, task.task_type)
      if (!type || type.harness.needs_connections) return false
      const own = ownCellKind(pool, wedge.manifest, task)
      return own ? pool.hasWarmCell(own) : pool.hasSharedCell(task.project_id)
    },
    writeStarted: (tx, tasks) => writeTaskCreated(tx, tasks, sandbox),
  }
}

/** Moves the task from provisioning to running. */
async function moveToRunning(tx: Tx, task: QueuedTask, sandbox: string): Promise<void> {
  const { id, epoch } = task
  const [head] = await updateTaskRunning(tx.db, { id, epoch, started_at: isoNow(tx) })
  if (!head) throw new RunEndedError()
  await writeTaskCreated(tx, [task], sandbox)
}

/** Writes `task.created`, which is always the first event. */
async function writeTaskCreated(tx: Tx, tasks: QueuedTask[], sandbox: string): Promise<void> {
  for (const { id, project_id, wedge, task_type, tier } of tasks) {
    const { provider, name } = chooseModel(tx.config, tier)
    const data = { wedge, task_type, status: 'running', sandbox, model: `${provider}/${name}` } as const
    await writeEvents(tx, id, 1, [{ type: 'task.created', data }])
    notifyProjectChange(tx, project_id, { kind: 'task', id, status: 'running' })
  }
}

function sandboxError(error: unknown): TaskError {
  return { reason: 'sandbox_failed', message: `the sandbox could not be started: ${errorMessage(error).slice(0, 500)}` }
}
