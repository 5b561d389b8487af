import type { Tx } from '../../platform/ctx/ctx.ts'
import type { QueuedTask } from '../../platform/store/tables.ts'

/**
 * A task that this replica has claimed. `hasStarted`: it is `running` already, with its first event. `isResumed`: an
 * earlier process began it.
 */
export interface ClaimedTask {
  task: QueuedTask
  hasStarted: boolean
  isResumed?: true
}

/** What a claim needs to know of the cells. `execution/runs/session/execute-run.ts` implements it. */
export interface RunStarter {
  /** Whether a cell is ready, so that the task can be `running` as soon as it is claimed. */
  canStart(task: QueuedTask): boolean
  /** Writes the first event of tasks that were claimed as `running`. */
  writeStarted(tx: Tx, tasks: QueuedTask[]): Promise<void>
}

/** The row of a task after its claim. The claim raises the epoch, so an earlier run of the task cannot write any more. */
export function toClaimedTask(task: QueuedTask, replica: string, now: string, hasStarted: boolean): QueuedTask {
  const claimed = { ...task }
  claimed.epoch++
  claimed.replica = replica
  claimed.status = hasStarted ? 'running' : 'provisioning'
  if (!hasStarted) return claimed
  claimed.started_at = now
  claimed.last_event_id = 1
  return claimed
}
