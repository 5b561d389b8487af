import { type Ctx, inTxAtLast, type Tx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import type { QueuedTask } from '../store/tables.ts'
import { claimAs, nextQueuedProject, queuedUpTo } from './rows.ts'

/** A claimed task, and whether it runs already. */
export interface Claimed {
  task: QueuedTask
  begun: boolean
}

/** What the claim asks of a task's workplace. */
export interface Starter {
  /** Whether the task can run as soon as it is claimed. */
  canBegin(task: QueuedTask): boolean
  /** Tells of the tasks that run now. */
  begun(tx: Tx, tasks: QueuedTask[]): Promise<void>
}

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
  starter: Starter,
  signal: AbortSignal,
): Promise<{ tasks: Claimed[]; turn: string }> {
  const claimSome = async (tx: Tx) => {
    const tasks: Claimed[] = []
    let last = turn
    const emptied = new Set<string>()
    while (tasks.length < most) {
      const [next] = await nextQueuedProject(tx.db, { after: last })
      if (!next?.project_id) break
      last = next.project_id
      const queued = await fewQueued(most)(tx.db, { project_id: last })
      // Only others that claim at this moment can have emptied it since; once round without a task, all are empty.
      if (queued.length === 0 && emptied.has(last)) break
      if (queued.length === 0) emptied.add(last)
      else emptied.clear()
      for (const task of queued.slice(0, most - tasks.length)) tasks.push(await claim(tx, task, starter.canBegin(task)))
    }
    await starter.begun(
      tx,
      tasks.filter(({ begun }) => begun).map(({ task }) => task),
    )
    return { tasks, turn: last }
  }
  return inTxAtLast(ctx, claimSome, signal)
}

async function claim(tx: Tx, task: QueuedTask, begun: boolean): Promise<Claimed> {
  const now = isoNow(tx)
  await (begun ? claimRunning : claimProvisioning)(tx.db, { id: task.id, replica: tx.replica, now })
  return { task: asClaimed(task, tx.replica, now, begun), begun }
}

/** The task as its row is once it is claimed; one that has begun has its first event. */
export function asClaimed(task: QueuedTask, replica: string, now: string, begun: boolean): QueuedTask {
  const claimed = { ...task }
  claimed.epoch++
  claimed.replica = replica
  claimed.status = begun ? 'running' : 'provisioning'
  if (!begun) return claimed
  claimed.started_at = now
  claimed.last_event_id = 1
  return claimed
}

const claimRunning = claimAs('running')
const claimProvisioning = claimAs('provisioning')

/** A quarter of what is free goes to one project before the next has its turn. */
const fewQueued = (most: number) => QUEUED.find(({ share }) => share * 4 <= most)?.read ?? one

const one = queuedUpTo(1)
const QUEUED = [8, 4, 2].map((share) => ({ share, read: queuedUpTo(share) }))
