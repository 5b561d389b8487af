import type { GatedRun } from '../approvals/gated-request.ts'
import { LazyAbort } from '../base/lazy-abort.ts'
import { newToken } from '../base/tokens.ts'
import type { TaskType, Wedge } from '../contract/wedge-manifest.ts'
import type { Grant } from '../connections/grants.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { RunEndReason, LiveRun } from '../ctx/live-runs.ts'
import type { ModelRun } from '../models/model-run.ts'
import type { TaskRow } from '../store/tables.ts'
import { parseTaskConstraints } from '../tasks/view.ts'
import type { TaskError } from '../tasks/status.ts'
import { gatePatterns } from './gate-patterns.ts'
import { WorkingTime } from './working-time.ts'

/**
 * One execution of a task on this replica: what it may use, the tokens by which its agent is known, and the handle
 * that ends it. It lives in memory only; when the process dies, so does every right that it had.
 */
export interface TaskRun extends GatedRun, LiveRun {
  task: TaskRow
  type: TaskType
  grant: Grant
  model: ModelRun
  taskToken: string
  gateToken: string
  /** The cell through whose socket alone the tokens are good; empty until there is one. */
  cellId: string
  /** It shares its cell with no other run: while it waits, a process waits. */
  hasOwnCell: boolean
  readCount: number
  gapCount: number
  /** A tool whose name contains one of these asks the gate. */
  gatePatterns: string[]
  /** Only the time that it works counts against max_runtime_s, not the time that it waits for a person. */
  workingTime: WorkingTime
  /** Set by whoever ends the run from outside; the row has been moved already. */
  endedBy: RunEndReason | null
  /** Why it fails, when the service knows better than the agent. */
  failure: TaskError | null
  /** Writes what the agent has said so far, so that it stands before what the service says next. */
  flushLog: () => Promise<void>
  /** Cuts the model calls that are still under way and waits until what they cost is written. */
  stopModelCalls: () => Promise<void>
}

export interface TaskRunParts {
  wedge: Wedge
  type: TaskType
  grant: Grant
  model: ModelRun
}

const RUN_IS_OVER = 'the run is over'

export function createTaskRun(ctx: Ctx, task: TaskRow, { wedge, type, grant, model }: TaskRunParts): TaskRun {
  const over = new LazyAbort()
  const run: TaskRun = {
    task,
    taskId: task.id,
    projectId: task.project_id,
    epoch: task.epoch,
    taskType: task.task_type,
    wedge,
    type,
    grant,
    constraints: parseTaskConstraints(task),
    model,
    taskToken: newToken('task', ctx.world.random),
    gateToken: newToken('gate', ctx.world.random),
    cellId: '',
    hasOwnCell: false,
    readCount: 0,
    gapCount: 0,
    gatePatterns: gatePatterns(wedge.manifest),
    workingTime: new WorkingTime(ctx.world.clock),
    over,
    endedBy: null,
    failure: null,
    flushLog: async () => {},
    async stopModelCalls() {
      // No call is under way, and without its tokens the agent can make none.
      if (model.reservedMicros === 0) return
      model.over.abort(RUN_IS_OVER)
      await new Promise<void>((resolve) => {
        model.onIdle = resolve
      })
    },
    end(reason) {
      if (run.endedBy) return
      run.endedBy = reason
      over.abort(RUN_IS_OVER)
      model.over.abort(RUN_IS_OVER)
    },
  }
  return run
}
