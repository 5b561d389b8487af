import type { Ctx, StartOnCreate } from '../ctx/ctx.ts'
import { isoNow, sleep } from '../ctx/world.ts'
import { StoreUnavailable, retryUntilAvailable } from '../store/errors.ts'
import { findTaskUnscoped } from '../tasks/rows.ts'
import type { QueuedTask } from '../store/tables.ts'
import { toClaimedTask, type ClaimedTask, type RunStarter } from '../runs/claim-tasks.ts'

/** The places of a runner, as far as a task that is being queued is concerned. */
export interface RunnerSlots {
  /** Whether one is free for which nobody waits. */
  isFree(): boolean
  /** Keeps one for a task that is on its way; null: it will not come. */
  keep(task: QueuedTask, coming: Promise<ClaimedTask | null>): void
}

/**
 * Begins tasks in the transaction that queues them: nobody has to look for them, and a short run has one flush to disk
 * less to wait for.
 */
export function createTaskStarter(
  ctx: Ctx,
  starter: RunStarter,
  places: RunnerSlots,
  stopping: AbortSignal,
): StartOnCreate {
  return (tx, queued) => {
    if (!places.isFree() || !starter.canStart(queued)) return null
    const task = toClaimedTask(queued, tx.replica, isoNow(tx), true)
    const claimed: ClaimedTask = { task, hasStarted: true }
    // Before its row was written nothing can have been committed.
    let isWritten = false
    places.keep(
      task,
      new Promise((resolve) => {
        tx.afterCommit(() => resolve(claimed))
        tx.afterFailure((error) =>
          resolve(isWritten && error instanceof StoreUnavailable ? findCommittedTask(ctx, task, stopping) : null),
        )
      }),
    )
    const tell = () => {
      isWritten = true
      return starter.writeStarted(tx, [task])
    }
    return { task, appendFirstEvent: tell }
  }
}

const MAX_LOOKS = 3
const LOOK_INTERVAL_MS = 1_000

/**
 * The connection broke when the task was committed, so nobody knows whether it was. If it was, nobody else would carry
 * it out; and the server may need a moment to notice.
 */
async function findCommittedTask(ctx: Ctx, task: QueuedTask, stopping: AbortSignal): Promise<ClaimedTask | null> {
  for (let look = 0; look < MAX_LOOKS && !stopping.aborted; look++) {
    const row = await retryUntilAvailable(() => findTaskUnscoped(ctx.db, task.id), stopping).catch(() => undefined)
    const isOurs = row?.replica === ctx.replica && row.epoch === task.epoch && row.status === 'running'
    if (row) return isOurs ? { task, hasStarted: true } : null
    await sleep(ctx.world.clock, LOOK_INTERVAL_MS, stopping)
  }
  return null
}
