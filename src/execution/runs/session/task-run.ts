import type { GatedRun } from '../../../approvals/policy/gated-request.ts'
import { LazyAbort } from '../../../platform/base/lazy-abort.ts'
import { newToken } from '../../../platform/base/tokens.ts'
import type { Json } from '../../../platform/base/json.ts'
import type { Brief } from '../../../platform/contract/agent-protocol.ts'
import type { TaskType, Wedge } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { Grant } from '../../../connections/actions/grants.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { RunEndReason, LiveRun } from '../../../platform/ctx/live-runs.ts'
import type { ModelRun } from '../../models/model-run.ts'
import type { FileRow, RunStateRow, TaskRow } from '../../../platform/store/tables.ts'
import { parseTaskConstraints } from '../../../work/tasks/view.ts'
import type { TaskError } from '../../../work/tasks/status.ts'
import { askForServer } from '../requests/ask-for-server.ts'
import { askWhetherDone } from '../requests/ask-whether-done.ts'
import type { CellKind } from '../cells/agent-cell.ts'
import { listGatePatterns } from '../requests/gate-patterns.ts'
import { createRequestStore, type EarlierRun, type StoredRun, toStoredRun } from '../resume/run-state.ts'
import { WorkingTime } from '../../../platform/ctx/working-time.ts'

/**
 * One execution of a task on this replica: its grant, the tokens of its agent, and the handle that ends it. It exists
 * only in memory, so its tokens become invalid when the process ends.
 */
export interface TaskRun extends GatedRun, LiveRun {
  task: TaskRow
  type: TaskType
  grant: Grant
  /** The files that the agent may read. */
  files: FileRow[]
  model: ModelRun
  taskToken: string
  gateToken: string
  /** The tokens are valid only on the socket or pipe of this cell; empty until the run has a cell. */
  cellId: string
  /** The name of the run in its cell. A run that continues has another one, so late lines of the earlier run are ignored. */
  cellRunId: string
  /** A run that does not share its cell (`harness`) makes a process wait while it waits. Null until it has a cell. */
  cellKind: CellKind | null
  readCount: number
  gapCount: number
  /** A tool whose name contains one of these must pass the gate. */
  gatePatterns: string[]
  /** What is stored of the run so that another process can continue it. */
  stored: StoredRun
  /** When the answers to requests were sent to the agent, in real milliseconds, by the id of the approval. */
  answeredAt: Map<string, number>
  /** Servers wait for an answer in the middle of a call. The call is lost if the run leaves its cell. */
  openServerQuestions: number
  /** The agent has delivered files, which are stored when the run ends. */
  hasUnstoredFiles: boolean
  /** Stores the state of the run with its next events. */
  saveSoon: () => void
  /** Called when the run waits for an approval. */
  onWaiting: (approvalId: string) => void
  /** The working time in earlier processes. */
  workedMs: number
  /** Counts against max_runtime_s; the time that the run waits for an approval does not count. */
  workingTime: WorkingTime
  /** Why the run was ended from outside; the task has ended by then. */
  endedBy: RunEndReason | null
  /** The cause of a failure, if the service knows it better than the agent. */
  failure: TaskError | null
  /** The output that the agent gave by `finish`; its later lines do not replace it. */
  finishedWith: { output: Json } | null
  /** Ends the session with this output when the program has exited. False if the agent has given an output before. */
  finish: (output: Json) => boolean
  /** Stores all events of the agent so far, so that the next event of the service comes after them. */
  flushLog: () => Promise<void>
  /** Aborts the model calls in progress and waits until their cost is stored. */
  stopModelCalls: () => Promise<void>
}

export interface TaskRunParts {
  wedge: Wedge
  type: TaskType
  grant: Grant
  files: FileRow[]
  model: ModelRun
}

const RUN_IS_OVER = 'the run is over'

export function createTaskRun(
  ctx: Ctx,
  task: TaskRow,
  { wedge, type, grant, files, model }: TaskRunParts,
  earlier: EarlierRun | null = null,
): TaskRun {
  const over = new LazyAbort()
  const workingTime = new WorkingTime(ctx.world.clock)
  const state = earlier?.state
  const stored = toStoredRun(earlier)
  model.files = stored.brief ? filesOfBrief(stored.brief, files) : files
  model.flushLog = () => run.flushLog()
  model.spentMicros = state ? Math.max(state.spent_micros, task.cost_micros) : 0
  const run: TaskRun = {
    ...taskFields(task),
    wedge,
    type,
    grant,
    files: model.files,
    model,
    taskToken: newToken('task', ctx.world.random),
    gateToken: newToken('gate', ctx.world.random),
    cellId: '',
    cellKind: null,
    ...earlierCounts(state),
    stored,
    isResumable: type.harness.resume,
    answeredAt: new Map(),
    openServerQuestions: 0,
    hasUnstoredFiles: false,
    saveSoon: () => {},
    onWaiting: () => {},
    gatePatterns: listGatePatterns(wedge.manifest),
    workingTime,
    whileWorking: (work) => workingTime.whileWorking(work),
    whileWaiting: (wait) => workingTime.whileWaiting(wait),
    over,
    pendingRequests: new Set(),
    endedBy: null,
    failure: null,
    finishedWith: null,
    finish: () => false,
    flushLog: async () => {},
    ...createRequestStore(() => run, earlier),
    askForServer: (callId, connection) => (question) => askForServer(ctx, run, { callId, connection }, question),
    askWhetherDone: (approval, effect) => askWhetherDone(ctx, run, approval, effect),
    stopModelCalls: () => stopModelCalls(model),
    end(reason) {
      if (run.endedBy) return
      run.endedBy = reason
      over.abort(RUN_IS_OVER)
      model.over.abort(RUN_IS_OVER)
    },
  }
  return run
}

const taskFields = (task: TaskRow) => ({
  task,
  taskId: task.id,
  projectId: task.project_id,
  epoch: task.epoch,
  taskType: task.task_type,
  constraints: parseTaskConstraints(task),
  cellRunId: `${task.id}.${task.epoch}`,
})

/** A run that continues keeps the files that it knew. The brief of an earlier version of the service has none. */
function filesOfBrief({ files: known }: Partial<Pick<Brief, 'files'>>, files: FileRow[]): FileRow[] {
  return files.filter(({ id }) => known?.some((file) => file.id === id))
}

async function stopModelCalls(model: TaskRun['model']): Promise<void> {
  // No call is in progress, and the agent cannot start one without valid tokens.
  if (model.openCalls === 0) return
  model.over.abort(RUN_IS_OVER)
  await new Promise<void>((resolve) => {
    model.onIdle = resolve
  })
}

/** What an earlier process of the run has used of its limits. */
const earlierCounts = (state: RunStateRow | undefined) => ({
  readCount: state?.read_count ?? 0,
  gapCount: state?.gap_count ?? 0,
  storedBytes: state?.stored_bytes ?? 0,
  workedMs: state?.worked_ms ?? 0,
})
