import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { isoNow } from '../../../platform/ctx/world.ts'
import { writeEvents } from '../../../work/events/append-events.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import { type ClaimedTask, type RunStarter, toClaimedTask } from '../../../approvals/lifecycle/claimed-task.ts'
import { countResume } from '../../../approvals/lifecycle/run-state-rows.ts'
import { retryUntilAvailable } from '../../../platform/store/errors.ts'
import type { QueuedTask } from '../../../platform/store/tables.ts'
import type { ClaimQueries, QueuedLimit } from './claim-queries.ts'
import { lockThreadForRun } from './claim-rows.ts'
import { updateTaskToClaimed, updateTaskToResumed } from '../replicas/rows.ts'

export interface Claim {
  /** The project that was served last. */
  lastProject: string
  max: number
  queries: ClaimQueries
  starter: RunStarter
  /** Makes sure that other replicas see this one as alive. */
  renewLease: (tx: Tx) => Promise<void>
  /** Tasks of a project that this refuses stay queued. */
  canTake: (projectId: string) => boolean
}

/**
 * Claims up to `max` queued tasks for this replica, project after project, so that a project with a long queue does not
 * starve the others. A claim sets the replica and raises the epoch, so that an earlier run of the task cannot write any more. A task
 * whose cell is ready starts in the same transaction, which saves a flush to disk. The transaction is durable: if the
 * connection breaks during the commit, the database is asked whether it was committed, because no other replica would
 * execute the claimed tasks.
 */
export async function claimTasks(
  ctx: Ctx,
  { lastProject, max, queries, starter, renewLease, canTake }: Claim,
  signal: AbortSignal,
): Promise<{ tasks: ClaimedTask[]; lastProject: string }> {
  // An idle replica polls without a transaction.
  const hasTask = await retryUntilAvailable(() => queries.hasClaimableTask(ctx.db, isoNow(ctx)), signal)
  if (!hasTask) return { tasks: [], lastProject }
  const claimSome = async (tx: Tx) => {
    await renewLease(tx)
    const now = isoNow(tx)
    // A person has already waited for these.
    const tasks = await claimReleasedTasks(tx, await queries.lockReleasedTasks(tx.db, max))
    let last = lastProject
    const emptied = new Set<string>()
    while (tasks.length < max) {
      const next = await queries.findNextProject(tx.db, last, now)
      if (!next) break
      last = next.project_id
      const queued = canTake(last) ? await queries.lockQueuedTasks(tx.db, next, now, turnSize(max)) : []
      const claimed = await claimQueuedTasks(tx, queued.slice(0, max - tasks.length), starter)
      tasks.push(...claimed)
      // Other replicas may claim the same tasks meanwhile. After one round without a task, this replica can claim no more.
      if (claimed.length === 0 && emptied.has(last)) break
      if (claimed.length === 0) emptied.add(last)
      else emptied.clear()
    }
    await starter.writeStarted(
      tx,
      tasks.filter(({ hasStarted, isResumed }) => hasStarted && !isResumed).map(({ task }) => task),
    )
    return { tasks, lastProject: last }
  }
  return inDurableTx(ctx, claimSome, signal)
}

const RESUMED: NewEvent = { type: 'progress', data: { text: 'Resumed', state: 'resumed' } }

async function claimReleasedTasks(tx: Tx, released: readonly QueuedTask[]): Promise<ClaimedTask[]> {
  const claimed: ClaimedTask[] = []
  for (const task of released) {
    const [head] = await updateTaskToResumed(tx.db, { id: task.id, replica: tx.replica })
    if (!head) continue
    await countResume(tx.db, { task_id: task.id })
    await writeEvents(tx, task.id, head.last_event_id, [RESUMED])
    const { last_event_id } = head
    claimed.push({
      task: { ...task, replica: tx.replica, epoch: task.epoch + 1, last_event_id },
      hasStarted: true,
      isResumed: true,
    })
  }
  return claimed
}

async function claimQueuedTasks(tx: Tx, queued: readonly QueuedTask[], starter: RunStarter): Promise<ClaimedTask[]> {
  const claimed: ClaimedTask[] = []
  for (const task of queued) {
    if (task.thread_id !== null && !(await lockThreadForRun(tx.db, task.thread_id))) continue
    claimed.push(await claimTask(tx, task, starter.canStart(task)))
  }
  return claimed
}

async function claimTask(tx: Tx, task: QueuedTask, hasStarted: boolean): Promise<ClaimedTask> {
  const now = isoNow(tx)
  await (hasStarted ? updateToRunning : updateToProvisioning)(tx.db, { id: task.id, replica: tx.replica, now })
  return { task: toClaimedTask(task, tx.replica, now, hasStarted), hasStarted }
}

const updateToRunning = updateTaskToClaimed('running')
const updateToProvisioning = updateTaskToClaimed('provisioning')

/** A project gets 8, 4, 2 or 1 tasks per turn: about a quarter of the free slots, but at least one. */
const turnSize = (max: number): QueuedLimit => TURN_SIZES.find((size) => size * 4 <= max) ?? 1

const TURN_SIZES = [8, 4, 2] as const
