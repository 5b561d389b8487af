import { audit } from '../audit/append.ts'
import { openEffectsOf, settleEffect } from '../approvals/effect-rows.ts'
import { endTask } from '../approvals/settle.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { answeredIn, StoreAway, untilBack } from '../store/away.ts'
import type { Ending } from '../tasks/end.ts'
import { activeTasksOf, beat, forgetReplica, heartbeats, holders } from './rows.ts'
import type { Watch } from './watch.ts'

export const BEAT_MS = 1_000
/** A replica that was silent for so long has lost its tasks. */
export const LEASE_MS = 10_000
const ATTEMPT_MS = 1_500

export const INTERRUPTED: Ending = {
  status: 'failed',
  error: { reason: 'interrupted', message: 'the run was interrupted by a restart' },
}

/** A replica's right to its runs. */
export interface Lease {
  startedAt: string
  /** When it was last renewed, by this machine's steady clock: it runs out whether or not anything can be heard. */
  renewed: number
}

export const openLease = (ctx: Ctx): Lease => ({
  startedAt: isoNow(ctx),
  renewed: performance.now(),
})

/**
 * Says that this replica lives, and ends here whatever was taken from it meanwhile. An attempt that gets no answer is
 * given up, and the next one follows at once: the lease runs out whether the wire was cut or swallows everything.
 */
export function renewLease(ctx: Ctx, lease: Lease, stopping: AbortSignal): Promise<void> {
  return untilBack(async () => {
    if (!(await answeredIn(ATTEMPT_MS, renew(ctx, lease)))) throw new StoreAway(`no answer in ${ATTEMPT_MS} ms`)
  }, stopping)
}

async function renew(ctx: Ctx, lease: Lease): Promise<true> {
  const asked = performance.now()
  await inTx(ctx, (tx) => beat(tx.db, { id: ctx.replica, started_at: lease.startedAt, seen_at: isoNow(tx) }))
  // One that was given up may still get through, after those that followed it.
  lease.renewed = Math.max(lease.renewed, asked)
  const running = ctx.live.all()
  if (running.length === 0) return true
  const mine = new Map((await activeTasksOf(ctx.db, { replica: ctx.replica })).map((task) => [task.id, task.epoch]))
  for (const run of running) if (mine.get(run.taskId) !== run.epoch) run.end('lost_lease')
  return true
}

/**
 * Ends the runs of a replica that could not renew its lease: others may have ended their tasks by now, and an agent
 * that goes on would only cost money. A SQLite file has one user, from whom nobody takes anything.
 */
export function endRunsWithoutLease(ctx: Ctx, lease: Lease): void {
  if (ctx.store.kind === 'sqlite' || performance.now() - lease.renewed < LEASE_MS) return
  for (const run of ctx.live.all()) run.end('lost_lease')
}

/** Ends what dead replicas left behind. Safe for every replica to do at once: each task ends once. */
export async function endLostRuns(ctx: Ctx, watch: Watch): Promise<void> {
  // Before the beats: whoever comes in between has both.
  const others = await otherHolders(ctx)
  const beats = await heartbeats(ctx.db, {})
  watch.look(beats)
  const lost = isoTime(ctx.world.clock.now() - LEASE_MS)
  const seen = new Set(beats.flatMap(({ id, seen_at }) => (seen_at < lost ? [] : [id])))
  for (const replica of others) if (!seen.has(replica) && watch.isStill(replica)) await endRunsOf(ctx, replica)
}

/**
 * A SQLite file has one user: at its start, whatever runs is left over from its earlier self. Whenever that was last
 * seen: the clock may have been set back since.
 */
export async function endLeftOvers(ctx: Ctx): Promise<void> {
  for (const replica of await otherHolders(ctx)) await endRunsOf(ctx, replica)
}

/** A name on a task or an effect may belong to no replica at all. */
async function otherHolders(ctx: Ctx): Promise<string[]> {
  const all = await holders(ctx.db, {})
  return all.flatMap(({ replica }) => (replica && replica !== ctx.replica ? [replica] : []))
}

async function endRunsOf(ctx: Ctx, replica: string): Promise<void> {
  for (const task of await activeTasksOf(ctx.db, { replica })) {
    await inTx(ctx, (tx) => endTask(tx, task.id, INTERRUPTED, task.epoch))
  }
  for (const effect of await openEffectsOf(ctx.db, { replica })) {
    await inTx(ctx, async (tx) => {
      const finished_at = isoNow(tx)
      const outcome = { approval_id: effect.approval_id, outcome: 'unknown', status: null, finished_at }
      const [settled] = await settleEffect(tx.db, { ...outcome, error: 'the service stopped before the answer came' })
      if (!settled) return
      const data = { action: effect.action, task_id: effect.task_id, outcome: 'unknown' }
      await audit(tx, effect.project_id, SYSTEM, 'action.executed', effect.approval_id, data)
    })
  }
  await inTx(ctx, (tx) => forgetReplica(tx.db, { id: replica }))
}
