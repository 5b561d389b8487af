import { listOpenEffects, type OpenEffect } from '../../../approvals/effects/effect-rows.ts'
import { recordLostEffect } from '../../../approvals/effects/send-once.ts'
import { lockThreadsOfTasks } from '../../../customers/threads/thread-state-rows.ts'
import { type Ctx, inTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../../platform/ctx/world.ts'
import { endTask } from '../../../approvals/lifecycle/end-task.ts'
import type { TaskEnding } from '../../../approvals/lifecycle/task-ending.ts'
import type { TaskRow } from '../../../platform/store/tables.ts'
import type { TaskError } from '../../../work/tasks/status.ts'
import { lockTask } from '../../../work/tasks/rows.ts'
import type { HeartbeatMonitor } from './heartbeat-monitor.ts'
import { tryReleaseTask } from '../resume/park-run.ts'
import { deleteReplica, listActiveTasksOfReplica, listHeartbeats, listHoldingReplicas } from './rows.ts'

export const INTERRUPTED_ERROR: TaskError = { reason: 'interrupted', message: 'the run was interrupted by a restart' }

/** How a task ends when its replica dies and no other can continue it. */
export const INTERRUPTED_ENDING: TaskEnding = { status: 'failed', error: INTERRUPTED_ERROR }

/**
 * Ends the tasks of replicas whose lease has expired. All replicas may do this at the same time, because each task ends
 * once.
 */
export async function endTasksOfDeadReplicas(ctx: Ctx, monitor: HeartbeatMonitor): Promise<void> {
  // Read before the heartbeats, so that a replica that starts in between has a heartbeat too.
  const others = await listOtherReplicas(ctx)
  const heartbeats = await listHeartbeats(ctx.db, {})
  monitor.observe(heartbeats)
  const expiry = toIsoTime(ctx.world.clock.now() - ctx.config.leaseMs)
  const alive = new Set(heartbeats.flatMap(({ id, seen_at }) => (seen_at < expiry ? [] : [id])))
  for (const replica of others) {
    if (alive.has(replica) || !monitor.isSilent(replica)) continue
    const held = await readHeldWork(ctx, replica)
    // A replica that is back writes a heartbeat before it claims a task, so an old heartbeat shows that this work is lost.
    const last = findHeartbeat(heartbeats, replica)
    if (findHeartbeat(await listHeartbeats(ctx.db, {}), replica) === last) await endHeldWork(ctx, replica, held, last)
  }
}

/**
 * Ends all running tasks when a service on SQLite starts: they belong to an earlier process, because a SQLite file has
 * one replica. Heartbeats are ignored, because the clock may have been set back.
 */
export async function endTasksOfEarlierProcess(ctx: Ctx): Promise<void> {
  const heartbeats = await listHeartbeats(ctx.db, {})
  for (const replica of await listOtherReplicas(ctx))
    await endHeldWork(ctx, replica, await readHeldWork(ctx, replica), findHeartbeat(heartbeats, replica))
}

/** The other replicas that hold tasks or effects, including those without a row of their own. */
async function listOtherReplicas(ctx: Ctx): Promise<string[]> {
  const all = await listHoldingReplicas(ctx.db, {})
  return all.flatMap(({ replica }) => (replica && replica !== ctx.replica ? [replica] : []))
}

export type HeldTask = Pick<TaskRow, 'id' | 'project_id' | 'epoch'>

const TASKS_PER_BATCH = 50

/** Batches for `releaseOrEndTasks`. Their order lets several replicas end tasks without a deadlock. */
export function toBatches(tasks: readonly HeldTask[]): HeldTask[][] {
  const keyOf = ({ project_id, id }: HeldTask) => `${project_id} ${id}`
  const sorted = tasks.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return Array.from({ length: Math.ceil(sorted.length / TASKS_PER_BATCH) }, (_, n) =>
    sorted.slice(n * TASKS_PER_BATCH, (n + 1) * TASKS_PER_BATCH),
  )
}

/** Releases or ends tasks in one transaction, because a transaction for each takes too long for a replica that stops. */
export async function releaseOrEndTasks(tx: Tx, tasks: readonly HeldTask[]): Promise<void> {
  // All tasks and then all threads are locked before the audit chains, as in every other transaction.
  for (const { id } of tasks) await lockTask(tx.db, { id })
  await lockThreadsOfTasks(
    tx.db,
    tasks.map(({ id }) => id),
  )
  for (const task of tasks) {
    if (!(await tryReleaseTask(tx, task))) await endTask(tx, task.id, INTERRUPTED_ENDING, task.epoch)
  }
}

const findHeartbeat = (heartbeats: readonly { id: string; seen_at: string }[], replica: string) =>
  heartbeats.find(({ id }) => id === replica)?.seen_at ?? null

interface HeldWork {
  tasks: HeldTask[]
  effects: OpenEffect[]
}

async function readHeldWork(ctx: Ctx, replica: string): Promise<HeldWork> {
  return {
    tasks: await listActiveTasksOfReplica(ctx.db, { replica }),
    effects: await listOpenEffects(ctx.db, { replica }),
  }
}

/** Outcomes before tasks: a run that continues needs to know whether its action was sent. */
async function endHeldWork(
  ctx: Ctx,
  replica: string,
  { tasks, effects }: HeldWork,
  heartbeat: string | null,
): Promise<void> {
  for (const effect of effects) await recordLostEffect(ctx, replica, effect)
  for (const batch of toBatches(tasks)) await inTx(ctx, (tx) => releaseOrEndTasks(tx, batch))
  if (heartbeat) await inTx(ctx, (tx) => deleteReplica(tx.db, { id: replica, seen_at: heartbeat }))
}
