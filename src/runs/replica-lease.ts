import { appendAuditEntry } from '../audit/append.ts'
import { listOpenEffects, updateEffectOutcome } from '../approvals/effect-rows.ts'
import { endTask } from '../lifecycle/end-task.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow, toIsoTime } from '../ctx/world.ts'
import { resolveWithin, StoreUnavailable, retryUntilAvailable } from '../store/errors.ts'
import type { TaskEnding } from '../lifecycle/task-ending.ts'
import {
  listActiveTasksOfReplica,
  updateHeartbeat,
  deleteReplica,
  listHeartbeats,
  listHoldingReplicas,
} from './rows.ts'
import type { HeartbeatMonitor } from './heartbeat-monitor.ts'

export const HEARTBEAT_INTERVAL_MS = 1_000
/** A replica that was silent for so long has lost its tasks. */
export const LEASE_TIMEOUT_MS = 10_000
const RENEW_TIMEOUT_MS = 1_500

export const INTERRUPTED_ENDING: TaskEnding = {
  status: 'failed',
  error: { reason: 'interrupted', message: 'the run was interrupted by a restart' },
}

/** A replica's right to its runs. */
export interface ReplicaLease {
  startedAt: string
  /** When it was last renewed, by this machine's steady clock: it runs out whether or not anything can be heard. */
  renewedAt: number
}

export const createReplicaLease = (ctx: Ctx): ReplicaLease => ({
  startedAt: isoNow(ctx),
  renewedAt: performance.now(),
})

/**
 * Says that this replica lives, and ends here whatever was taken from it meanwhile. An attempt that gets no answer is
 * given up, and the next one follows at once: the lease runs out whether the wire was cut or swallows everything.
 */
export function renewReplicaLease(ctx: Ctx, lease: ReplicaLease, stopping: AbortSignal): Promise<void> {
  return retryUntilAvailable(async () => {
    if (!(await resolveWithin(RENEW_TIMEOUT_MS, writeHeartbeat(ctx, lease))))
      throw new StoreUnavailable(`no answer in ${RENEW_TIMEOUT_MS} ms`)
  }, stopping)
}

async function writeHeartbeat(ctx: Ctx, lease: ReplicaLease): Promise<true> {
  const asked = performance.now()
  await inTx(ctx, (tx) => updateHeartbeat(tx.db, { id: ctx.replica, started_at: lease.startedAt, seen_at: isoNow(tx) }))
  // One that was given up may still get through, after those that followed it.
  lease.renewedAt = Math.max(lease.renewedAt, asked)
  const running = ctx.liveRuns.all()
  if (running.length === 0) return true
  const mine = new Map(
    (await listActiveTasksOfReplica(ctx.db, { replica: ctx.replica })).map((task) => [task.id, task.epoch]),
  )
  for (const run of running) if (mine.get(run.taskId) !== run.epoch) run.end('lost_lease')
  return true
}

/**
 * Ends the runs of a replica that could not renew its lease: others may have ended their tasks by now, and an agent
 * that goes on would only cost money. A SQLite file has one user, from whom nobody takes anything.
 */
export function endRunsIfLeaseExpired(ctx: Ctx, lease: ReplicaLease): void {
  if (ctx.store.kind === 'sqlite' || performance.now() - lease.renewedAt < LEASE_TIMEOUT_MS) return
  for (const run of ctx.liveRuns.all()) run.end('lost_lease')
}

/** Ends what dead replicas left behind. Safe for every replica to do at once: each task ends once. */
export async function endTasksOfDeadReplicas(ctx: Ctx, watch: HeartbeatMonitor): Promise<void> {
  // Before the beats: whoever comes in between has both.
  const others = await listOtherReplicas(ctx)
  const beats = await listHeartbeats(ctx.db, {})
  watch.observe(beats)
  const lost = toIsoTime(ctx.world.clock.now() - LEASE_TIMEOUT_MS)
  const seen = new Set(beats.flatMap(({ id, seen_at }) => (seen_at < lost ? [] : [id])))
  for (const replica of others) if (!seen.has(replica) && watch.isSilent(replica)) await endTasksOfReplica(ctx, replica)
}

/**
 * A SQLite file has one user: at its start, whatever runs is left over from its earlier self. Whenever that was last
 * seen: the clock may have been set back since.
 */
export async function endTasksOfEarlierProcess(ctx: Ctx): Promise<void> {
  for (const replica of await listOtherReplicas(ctx)) await endTasksOfReplica(ctx, replica)
}

/** A name on a task or an effect may belong to no replica at all. */
async function listOtherReplicas(ctx: Ctx): Promise<string[]> {
  const all = await listHoldingReplicas(ctx.db, {})
  return all.flatMap(({ replica }) => (replica && replica !== ctx.replica ? [replica] : []))
}

async function endTasksOfReplica(ctx: Ctx, replica: string): Promise<void> {
  for (const task of await listActiveTasksOfReplica(ctx.db, { replica })) {
    await inTx(ctx, (tx) => endTask(tx, task.id, INTERRUPTED_ENDING, task.epoch))
  }
  for (const effect of await listOpenEffects(ctx.db, { replica })) {
    await inTx(ctx, async (tx) => {
      const finished_at = isoNow(tx)
      const outcome = { approval_id: effect.approval_id, outcome: 'unknown', status: null, finished_at }
      const [settled] = await updateEffectOutcome(tx.db, {
        ...outcome,
        error: 'the service stopped before the answer came',
      })
      if (!settled) return
      const data = { action: effect.action, task_id: effect.task_id, outcome: 'unknown' }
      await appendAuditEntry(tx, effect.project_id, SYSTEM_ACTOR, 'action.executed', effect.approval_id, data)
    })
  }
  await inTx(ctx, (tx) => deleteReplica(tx.db, { id: replica }))
}
