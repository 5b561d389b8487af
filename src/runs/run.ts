import type { AskingRun } from '../approvals/asking.ts'
import { LateAbort } from '../base/late-abort.ts'
import { newToken } from '../base/tokens.ts'
import type { TaskType, Wedge } from '../base/wedge.ts'
import type { Grant } from '../connections/grants.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { EndReason, LiveRun } from '../ctx/live.ts'
import type { ModelRun } from '../models/run.ts'
import type { Tasks } from '../store/tables.ts'
import { constraintsOf } from '../tasks/record.ts'
import type { TaskError } from '../tasks/status.ts'
import { gatePatterns } from './gate-patterns.ts'
import { WorkingTime } from './working-time.ts'

/**
 * One execution of a task on this replica: what it may use, the tokens by which its agent is known, and the handle
 * that ends it. It lives in memory only; when the process dies, so does every right that it had.
 */
export interface Run extends AskingRun, LiveRun {
  task: Tasks
  type: TaskType
  grant: Grant
  model: ModelRun
  taskToken: string
  gateToken: string
  /** The cell through whose socket alone the tokens are good; empty until there is one. */
  cellId: string
  /** It shares its cell with no other run: while it waits, a process waits. */
  hasOwnCell: boolean
  reads: number
  gaps: number
  /** A tool whose name contains one of these asks the gate. */
  gatePatterns: string[]
  /** Only the time that it works counts against max_runtime_s, not the time that it waits for a person. */
  time: WorkingTime
  /** Set by whoever ends the run from outside; the row has been moved already. */
  endedBy: EndReason | null
  /** Why it fails, when the service knows better than the agent. */
  failure: TaskError | null
  /** Writes what the agent has said so far, so that it stands before what the service says next. */
  flush: () => Promise<void>
  /** Cuts the model calls that are still under way and waits until what they cost is written. */
  hangUp: () => Promise<void>
}

export interface RunParts {
  wedge: Wedge
  type: TaskType
  grant: Grant
  model: ModelRun
}

const OVER = 'the run is over'

export function openRun(ctx: Ctx, task: Tasks, { wedge, type, grant, model }: RunParts): Run {
  const over = new LateAbort()
  const run: Run = {
    task,
    taskId: task.id,
    projectId: task.project_id,
    epoch: task.epoch,
    taskType: task.task_type,
    wedge,
    type,
    grant,
    constraints: constraintsOf(task),
    model,
    taskToken: newToken('task', ctx.world.random),
    gateToken: newToken('gate', ctx.world.random),
    cellId: '',
    hasOwnCell: false,
    reads: 0,
    gaps: 0,
    gatePatterns: gatePatterns(wedge.manifest),
    time: new WorkingTime(ctx.world.clock),
    over,
    endedBy: null,
    failure: null,
    flush: async () => {},
    async hangUp() {
      // No call is under way, and without its tokens the agent can make none.
      if (model.reservedMicros === 0) return
      model.over.abort(OVER)
      await new Promise<void>((resolve) => {
        model.onIdle = resolve
      })
    },
    end(reason) {
      if (run.endedBy) return
      run.endedBy = reason
      over.abort(OVER)
      model.over.abort(OVER)
    },
  }
  return run
}
