import { type Ctx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { type ClaimedTask, type RunStarter, toClaimedTask } from '../lifecycle/claimed-task.ts'
import type { QueuedTask } from '../store/tables.ts'
import { updateTaskToClaimed, findNextQueuedProject, lockQueuedTasks } from './rows.ts'

/**
 * Takes queued tasks, project after project, so that one with a long queue does not starve the others. `turn` is the
 * project that was served last. A claim raises the epoch: whoever held the task before cannot write any more. A task
 * that can begin at once does so in the same transaction: one flush to disk instead of two. A claim that was committed
 * when the connection broke is known as one: nobody else would carry its tasks out.
 */
export function claimTasks(
  ctx: Ctx,
  turn: string,
  most: number,
  starter: RunStarter,
  signal: AbortSignal,
): Promise<{ tasks: ClaimedTask[]; turn: string }> {
  const claimSome = async (tx: Tx) => {
    const tasks: ClaimedTask[] = []
    let last = turn
    const emptied = new Set<string>()
    while (tasks.length < most) {
      const [next] = await findNextQueuedProject(tx.db, { after: last })
      if (!next?.project_id) break
      last = next.project_id
      const queued = await queuedReader(most)(tx.db, { project_id: last })
      // Only others that claim at this moment can have emptied it since; once round without a task, all are empty.
      if (queued.length === 0 && emptied.has(last)) break
      if (queued.length === 0) emptied.add(last)
      else emptied.clear()
      for (const task of queued.slice(0, most - tasks.length))
        tasks.push(await claimTask(tx, task, starter.canStart(task)))
    }
    await starter.writeStarted(
      tx,
      tasks.filter(({ hasStarted: begun }) => begun).map(({ task }) => task),
    )
    return { tasks, turn: last }
  }
  return inDurableTx(ctx, claimSome, signal)
}

async function claimTask(tx: Tx, task: QueuedTask, begun: boolean): Promise<ClaimedTask> {
  const now = isoNow(tx)
  await (begun ? updateToRunning : updateToProvisioning)(tx.db, { id: task.id, replica: tx.replica, now })
  return { task: toClaimedTask(task, tx.replica, now, begun), hasStarted: begun }
}

const updateToRunning = updateTaskToClaimed('running')
const updateToProvisioning = updateTaskToClaimed('provisioning')

/** A quarter of what is free goes to one project before the next has its turn. */
const queuedReader = (most: number) => QUEUED_READERS.find(({ share }) => share * 4 <= most)?.read ?? lockOneQueued

const lockOneQueued = lockQueuedTasks(1)
const QUEUED_READERS = [8, 4, 2].map((share) => ({ share, read: lockQueuedTasks(share) }))
