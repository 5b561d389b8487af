import { type Ctx, inTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { isoNow, sleep } from '../../../platform/ctx/world.ts'
import { resolveWithin, retryUntilAvailable, StoreUnavailable } from '../../../platform/store/errors.ts'
import type { ReplicaRow } from '../../../platform/store/tables.ts'
import { listActiveTasksOfReplica, listHeartbeats, updateHeartbeat } from './rows.ts'

export const HEARTBEATS_PER_LEASE = 10
const RENEW_TIMEOUT_MS = 1_500
/** Enough to tell a running replica from one that has just stopped. */
const HEARTBEATS_TO_WAIT = 3

/** The right of this replica to execute the tasks that it has claimed. Ten heartbeats renew it in the time of a lease. */
export interface ReplicaLease {
  startedAt: string
  /** The last renewal by the monotonic clock of this machine, so that the lease expires without the database. */
  renewedAt: number
}

export const heartbeatIntervalMs = ({ config }: Pick<Ctx, 'config'>): number => config.leaseMs / HEARTBEATS_PER_LEASE

export const createReplicaLease = (ctx: Ctx): ReplicaLease => ({
  startedAt: isoNow(ctx),
  renewedAt: performance.now(),
})

/**
 * Writes a heartbeat and ends the runs whose tasks this replica has lost. An attempt without an answer is abandoned and
 * repeated at once, because a broken connection may report no error.
 */
export function renewReplicaLease(ctx: Ctx, lease: ReplicaLease, stopping: AbortSignal): Promise<void> {
  return retryUntilAvailable(async () => {
    if (!(await resolveWithin(RENEW_TIMEOUT_MS, writeHeartbeat(ctx, lease))))
      throw new StoreUnavailable(`no answer in ${RENEW_TIMEOUT_MS} ms`)
  }, stopping)
}

async function writeHeartbeat(ctx: Ctx, lease: ReplicaLease): Promise<true> {
  const startedAt = performance.now()
  await inTx(ctx, (tx) => updateHeartbeat(tx.db, toReplicaRow(tx, lease)))
  // An abandoned attempt may still succeed after later ones.
  lease.renewedAt = Math.max(lease.renewedAt, startedAt)
  const runs = ctx.liveRuns.all()
  if (runs.length === 0) return true
  const tasks = await listActiveTasksOfReplica(ctx.db, { replica: ctx.replica })
  const epochs = new Map(tasks.map((task) => [task.id, task.epoch]))
  for (const run of runs) if (epochs.get(run.taskId) !== run.epoch) run.end('lost_lease')
  return true
}

function toReplicaRow(tx: Tx, { startedAt }: ReplicaLease): ReplicaRow {
  const { maxConcurrentTasks, runnerProjects, runnerWedges } = tx.config
  return {
    id: tx.replica,
    started_at: startedAt,
    seen_at: isoNow(tx),
    max_tasks: maxConcurrentTasks,
    runner_projects: runnerProjects && JSON.stringify(runnerProjects),
    runner_wedges: runnerWedges && JSON.stringify(runnerWedges),
  }
}

/**
 * Whether this replica may claim tasks: half a lease is left for the claim. A SQLite file has one replica, so its lease never
 * expires.
 */
export const isLeaseRecent = (ctx: Ctx, lease: ReplicaLease): boolean =>
  ctx.store.kind === 'sqlite' || performance.now() - lease.renewedAt < ctx.config.leaseMs / 2

/**
 * Writes a heartbeat in the transaction of a claim if the last one is old, for example after an outage. Otherwise other
 * replicas would end the claimed tasks.
 */
export async function renewOldLease(tx: Tx, lease: ReplicaLease): Promise<void> {
  if (isLeaseRecent(tx, lease)) return
  const startedAt = performance.now()
  await updateHeartbeat(tx.db, toReplicaRow(tx, lease))
  tx.afterCommit(() => {
    lease.renewedAt = Math.max(lease.renewedAt, startedAt)
  })
}

/**
 * Ends the runs of this replica if it could not renew its lease for longer than a database may be away: other replicas may
 * have ended their tasks, and the agents would only cost money. If the others could not reach the database either, no
 * replica has ended a task. A SQLite file has one replica, so its lease never expires.
 */
export function endRunsIfLeaseExpired(ctx: Ctx, lease: ReplicaLease): void {
  const keptMs = Math.max(ctx.config.leaseMs, ctx.config.databaseWaitS * 1000)
  if (ctx.store.kind === 'sqlite' || performance.now() - lease.renewedAt < keptMs) return
  for (const run of ctx.liveRuns.all()) run.end('lost_lease')
}

/** Whether any replica uses this store. Compares heartbeats, because a stopped replica leaves a recent one behind. */
export async function isReplicaRunning(ctx: Ctx): Promise<boolean> {
  const before = new Map((await listHeartbeats(ctx.db, {})).map(({ id, seen_at }) => [id, seen_at]))
  if (before.size === 0) return false
  await sleep(ctx.world.clock, HEARTBEATS_TO_WAIT * heartbeatIntervalMs(ctx))
  return (await listHeartbeats(ctx.db, {})).some(({ id, seen_at }) => before.get(id) !== seen_at)
}
