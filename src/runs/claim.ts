import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Tasks } from '../store/tables.ts'
import { claimQueued, firstQueuedProject } from './rows.ts'

/** A claimed task, and whether it runs already. */
export interface Claimed {
  task: Tasks
  begun: boolean
}

/**
 * Takes queued tasks, project after project, so that one with a long queue does not starve the others. `turn` is the
 * project that was served last. A claim raises the epoch: whoever held the task before cannot write any more. A task
 * that can begin at once does so in the same transaction: one flush to disk instead of two.
 */
export function claimTasks(
  ctx: Ctx,
  turn: string,
  most: number,
  beginAtOnce: (tx: Tx, task: Tasks) => Promise<boolean>,
): Promise<{ tasks: Claimed[]; turn: string }> {
  return inTx(ctx, async (tx) => {
    const tasks: Claimed[] = []
    let last = turn
    const share = Math.max(1, Math.ceil(most / 4))
    while (tasks.length < most) {
      const [next] = await firstQueuedProject(tx.db, { after: last })
      const [first] = next ? [next] : await firstQueuedProject(tx.db, { after: '' })
      if (!first) break
      const limit = Math.min(share, most - tasks.length)
      const claimed = await claimQueued(tx.db, { project_id: first.project_id, replica: ctx.replica, limit })
      if (claimed.length === 0) break
      for (const task of claimed) tasks.push({ task, begun: await beginAtOnce(tx, task) })
      last = first.project_id
    }
    return { tasks, turn: last }
  })
}
