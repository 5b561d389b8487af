import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { Tasks } from '../store/tables.ts'
import { claimQueued, firstQueuedProject } from './rows.ts'

/**
 * Takes queued tasks, project after project, so that one with a long queue does not starve the others. `turn` is the
 * project that was served last. A claim raises the epoch: whoever held the task before cannot write any more.
 */
export function claimTasks(ctx: Ctx, turn: string, most: number): Promise<{ tasks: Tasks[]; turn: string }> {
  return inTx(ctx, async (tx) => {
    const tasks: Tasks[] = []
    let last = turn
    const share = Math.max(1, Math.ceil(most / 4))
    while (tasks.length < most) {
      const [next] = await firstQueuedProject(tx.db, { after: last })
      const [first] = next?.project_id ? [next] : await firstQueuedProject(tx.db, { after: '' })
      if (!first?.project_id) break
      const limit = Math.min(share, most - tasks.length)
      const claimed = await claimQueued(tx.db, { project_id: first.project_id, replica: ctx.replica, limit })
      if (claimed.length === 0) break
      tasks.push(...claimed)
      last = first.project_id
    }
    return { tasks, turn: last }
  })
}
