import type { Ctx, StartOnCreate } from '../../platform/ctx/ctx.ts'
import { isoNow, sleep } from '../../platform/ctx/world.ts'
import { retryUntilAvailable, StoreUnavailable } from '../../platform/store/errors.ts'
import type { QueuedTask } from '../../platform/store/tables.ts'
import { findTaskUnscoped } from '../../work/tasks/rows.ts'
import { type ClaimedTask, type RunStarter, toClaimedTask } from './claimed-task.ts'

/** The concurrency slots of the runner. */
export interface RunnerSlots {
  /** Whether this replica executes the task, a slot is free for it and no queued task waits for the slot. */
  hasFreeSlot(task: QueuedTask): boolean
  /** Reserves a slot until the transaction that creates the task ends; null: the task was not created. */
  reserveSlot(task: QueuedTask, claim: Promise<ClaimedTask | null>): void
}

/**
 * Starts a task in the transaction that creates it, if a slot and a cell are ready. This saves a search of the queue and
 * one flush to disk, which is most of the time of a short run.
 */
export function createTaskStarter(
  ctx: Ctx,
  starter: RunStarter,
  slots: RunnerSlots,
  stopping: AbortSignal,
): StartOnCreate {
  return (tx, queued) => {
    if (!slots.hasFreeSlot(queued) || !starter.canStart(queued)) return null
    const task = toClaimedTask(queued, tx.replica, isoNow(tx), true)
    // Nothing can have been committed before the first event was written.
    let isWritten = false
    slots.reserveSlot(
      task,
      new Promise((resolve) => {
        tx.afterCommit(() => resolve({ task, hasStarted: true }))
        tx.afterFailure((error) => {
          const mayBeCommitted = isWritten && error instanceof StoreUnavailable
          resolve(mayBeCommitted ? findCommittedTask(ctx, task, stopping) : null)
        })
      }),
    )
    const appendFirstEvent = () => {
      isWritten = true
      return starter.writeStarted(tx, [task])
    }
    return { task, appendFirstEvent }
  }
}

const MAX_ATTEMPTS = 3
const ATTEMPT_INTERVAL_MS = 1_000

/**
 * The connection to the database broke during the commit, so the outcome is unknown. If the task was committed, only this
 * replica can run it. The database server may need a moment until the row is visible.
 */
async function findCommittedTask(ctx: Ctx, task: QueuedTask, stopping: AbortSignal): Promise<ClaimedTask | null> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS && !stopping.aborted; attempt++) {
    const row = await retryUntilAvailable(() => findTaskUnscoped(ctx.db, task.id), stopping).catch(() => undefined)
    const isOurs = row?.replica === ctx.replica && row.epoch === task.epoch && row.status === 'running'
    if (row) return isOurs ? { task, hasStarted: true } : null
    await sleep(ctx.world.clock, ATTEMPT_INTERVAL_MS, stopping)
  }
  return null
}
