import { errorMessage } from '../../../platform/base/error-message.ts'
import { resolveGrant, listMissingConnections } from '../../../connections/actions/grants.ts'
import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import { RunEndedError, writeEvents } from '../../../work/events/append-events.ts'
import { publishProjectChange } from '../../../work/events/project-changes.ts'
import type { PipePlane } from '../../../platform/http/pipe-plane.ts'
import { chooseModel } from '../../models/choose-model.ts'
import { stopModelCalls } from '../../models/model-run.ts'
import { retryUntilAvailable } from '../../../platform/store/errors.ts'
import type { QueuedTask } from '../../../platform/store/tables.ts'
import type { ClaimedTask, RunStarter } from '../../../approvals/lifecycle/claimed-task.ts'
import { updateTaskRunning } from '../../../approvals/lifecycle/rows.ts'
import type { TaskError } from '../../../work/tasks/status.ts'
import { needsOwnCell } from '../../../work/tasks/queue-reason.ts'
import { findTaskType } from '../../../wedges/library/task-type.ts'
import { type AgentProgram, findAgentProgram, fitsWarmCell } from '../cells/agent-program.ts'
import { createOrContinueBrief } from './create-brief.ts'
import type { CellPool } from '../cells/cell-pool.ts'
import type { AgentCell, CellKind } from '../cells/agent-cell.ts'
import { INTERRUPTED_ERROR } from '../replicas/dead-replicas.ts'
import { finishRun, failRun } from './finish-run.ts'
import { listRunFiles, removeRunFiles, writeRunFiles, writeRunSkills } from './run-files.ts'
import { runAgentSession } from './agent-session.ts'
import { sendOutputReply } from '../requests/send-output-reply.ts'
import { type EarlierRun, readEarlierRun, saveRunState } from '../resume/run-state.ts'
import type { RunFacts, RunSetup } from './run-facts.ts'
import { createTaskRun, type TaskRun } from './task-run.ts'

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
  /** Called when a run starts to wait for a person. */
  onRunWaits: () => void
}

/** Executes a claimed task to its end. Never throws: every claimed task gets an end. */
export async function executeRun(environment: RunEnvironment, claimed: ClaimedTask): Promise<void> {
  const { ctx } = environment
  const { task } = claimed
  try {
    const setup = await retryUntilAvailable(() => readRunSetup(ctx, task), environment.stopping)
    if ('reason' in setup) return await failRun(ctx, { taskId: task.id, epoch: task.epoch }, setup)
    const earlier = claimed.isResumed
      ? await retryUntilAvailable(() => readEarlierRun(ctx.db, task.id), environment.stopping)
      : null
    if (claimed.isResumed && !earlier)
      return await failRun(ctx, { taskId: task.id, epoch: task.epoch }, INTERRUPTED_ERROR)
    const run = createTaskRun(ctx, task, setup, earlier, environment.onRunWaits)
    await executeInCell(environment, run, claimed, earlier)
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
  earlier: EarlierRun | null,
): Promise<void> {
  const { ctx, pool } = environment
  const { facts, tokens, stored } = run
  const unregister = environment.registerRun(run)
  let cell: AgentCell | null = null
  try {
    const agentCell = await acquireCell(pool, facts)
    cell = agentCell
    tokens.cellId = agentCell.id
    if (earlier && (facts.cellKind === 'custom') !== (earlier.state.checkpoint !== null))
      return await failRun(ctx, facts, INTERRUPTED_ERROR)
    const files = await retryUntilAvailable(() => writeRunFiles(ctx, facts, agentCell), environment.stopping)
    const skillsDir = await writeRunSkills(facts, agentCell)
    const brief = await retryUntilAvailable(
      () => createOrContinueBrief(ctx, run, { socket: agentCell.socketPathInside, files, skillsDir }, earlier),
      environment.stopping,
    )
    const { service: _, transcript: __, resume: ___, ...lasting } = brief
    stored.brief = lasting
    if (!hasStarted) {
      const start = async (tx: Tx) => {
        await moveToRunning(tx, task, environment.sandbox)
        if (facts.isResumable) await saveRunState(tx, run)
      }
      await inDurableTx(ctx, start, environment.stopping)
    }
    const outcome = await sendOutputReply(ctx, run, await runAgentSession(environment, run, cell, brief))
    // From here on the tokens of the run are invalid.
    unregister()
    const { end } = outcome
    if (end.kind !== 'output' && end.kind !== 'error') cell.abort(facts.cellRunId)
    // A cell whose run timed out may hang, so it gets no new runs.
    if (end.kind === 'timeout') pool.retire(cell)
    await stopModelCalls(run.model)
    await finishRun(ctx, run, outcome)
  } finally {
    unregister()
    if (cell) {
      await pool.release(cell, facts.cellRunId)
      await removeRunFiles(facts, cell)
    }
  }
}

/** Everything that a run needs before it gets a cell, or the reason why the task cannot run. */
async function readRunSetup(ctx: Ctx, task: QueuedTask): Promise<RunSetup | TaskError> {
  const wedge = await ctx.wedges.find(task.wedge)
  if (!wedge) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' does not exist any more` }
  const type = findTaskType(wedge, task.task_type)
  if (!type) return { reason: 'agent_failed', message: `the wedge '${task.wedge}' has no '${task.task_type}' any more` }
  const { project_id: projectId, client_id: clientId } = task
  if (type.harness.needs_connections) {
    const missing = await listMissingConnections(ctx, wedge.manifest, projectId, clientId)
    if (missing.length > 0) {
      const message = `these connections do not exist or have no credential: ${missing.join(', ')}`
      return { reason: 'connection_missing', message }
    }
  }
  const program = findAgentProgram(ctx.config, wedge, type)
  return {
    wedge,
    type,
    files: await listRunFiles(ctx.db, task),
    grant: await resolveGrant(ctx.db, { projectId, clientId, manifest: wedge.manifest }),
    program,
    cellKind: chooseCellKind(ctx, task, program),
  }
}

function chooseCellKind(ctx: Ctx, task: QueuedTask, program: AgentProgram | null): CellKind {
  if (program) return 'custom'
  return needsOwnCell(ctx, task) ? 'workshop' : 'harness'
}

function acquireCell(pool: CellPool, { cellKind, program, projectId }: RunFacts): Promise<AgentCell> {
  return cellKind === 'harness' ? pool.acquireShared(projectId) : pool.acquireOwn(cellKind, program)
}

/** Starts tasks in the transaction that claims them if their cell is ready and no further check can fail. */
export function createRunStarter({ ctx, pool, sandbox }: RunEnvironment): RunStarter {
  return {
    canStart(task) {
      const wedge = ctx.wedges.get(task.wedge)
      const type = wedge && findTaskType(wedge, task.task_type)
      // A resumable task stores its brief when it starts, and the brief is made when the cell is there.
      if (!wedge || !type || type.harness.needs_connections || type.harness.resume) return false
      const program = findAgentProgram(ctx.config, wedge, type)
      if (program && !fitsWarmCell(ctx.config, program)) return false
      const kind = chooseCellKind(ctx, task, program)
      return kind === 'harness' ? pool.hasSharedCell(task.project_id) : pool.hasWarmCell(kind)
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
    const type = findTaskTypeByName(tx, wedge, task_type)
    const { provider, name } = chooseModel(tx.config, type?.harness.tier, tier)
    const data = { wedge, task_type, status: 'running', sandbox, model: `${provider}/${name}` } as const
    await writeEvents(tx, id, 1, [{ type: 'task.created', data }])
    publishProjectChange(tx, project_id, { kind: 'task', id, status: 'running' })
  }
}

function findTaskTypeByName({ wedges }: Pick<Ctx, 'wedges'>, slug: string, taskType: string) {
  const wedge = wedges.get(slug)
  return wedge && findTaskType(wedge, taskType)
}

function sandboxError(error: unknown): TaskError {
  return { reason: 'sandbox_failed', message: `the sandbox could not be started: ${errorMessage(error).slice(0, 500)}` }
}
