import type { Ctx, Taker } from '../ctx/ctx.ts'
import { isoNow, sleep } from '../ctx/world.ts'
import { StoreAway, untilBack } from '../store/away.ts'
import { taskRow } from '../tasks/rows.ts'
import type { QueuedTask } from '../store/tables.ts'
import { asClaimed, type Claimed, type Starter } from './claim.ts'

/** The places of a runner, as far as a task that is being queued is concerned. */
export interface Places {
  /** Whether one is free for which nobody waits. */
  isFree(): boolean
  /** Keeps one for a task that is on its way; null: it will not come. */
  keep(task: QueuedTask, coming: Promise<Claimed | null>): void
}

/**
 * Begins tasks in the transaction that queues them: nobody has to look for them, and a short run has one flush to disk
 * less to wait for.
 */
export function takerFor(ctx: Ctx, starter: Starter, places: Places, stopping: AbortSignal): Taker {
  return (tx, queued) => {
    if (!places.isFree() || !starter.canBegin(queued)) return null
    const task = asClaimed(queued, tx.replica, isoNow(tx), true)
    const claimed: Claimed = { task, begun: true }
    // Before its row was written nothing can have been committed.
    let isWritten = false
    places.keep(
      task,
      new Promise((resolve) => {
        tx.afterCommit(() => resolve(claimed))
        tx.afterFailure((error) => resolve(isWritten && error instanceof StoreAway ? found(ctx, task, stopping) : null))
      }),
    )
    const tell = () => {
      isWritten = true
      return starter.begun(tx, [task])
    }
    return { task, tell }
  }
}

const LOOKS = 3
const LOOK_MS = 1_000

/**
 * The connection broke when the task was committed, so nobody knows whether it was. If it was, nobody else would carry
 * it out; and the server may need a moment to notice.
 */
async function found(ctx: Ctx, task: QueuedTask, stopping: AbortSignal): Promise<Claimed | null> {
  for (let look = 0; look < LOOKS && !stopping.aborted; look++) {
    const row = await untilBack(() => taskRow(ctx.db, task.id), stopping).catch(() => undefined)
    const isOurs = row?.replica === ctx.replica && row.epoch === task.epoch && row.status === 'running'
    if (row) return isOurs ? { task, begun: true } : null
    await sleep(ctx.world.clock, LOOK_MS, stopping)
  }
  return null
}
