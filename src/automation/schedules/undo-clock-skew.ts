import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { ScheduleRow } from '../../platform/store/tables.ts'
import { listSchedulesAhead, updateNextRun } from './rows.ts'
import { nextRunAt } from './schedules.ts'

/** Smaller differences between the clocks of replicas are ignored. */
const MAX_CLOCK_SKEW_MS = 60_000

/**
 * Recomputes due times that were set by a clock that was ahead and is correct again. Without this, the schedules would
 * not fire until that far time. Due times that fired meanwhile have a row in `schedule_slots` and do not fire again.
 */
export async function undoClockSkew(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  for (const schedule of await listSchedulesAhead(ctx.db, { later: toIsoTime(now + MAX_CLOCK_SKEW_MS) })) {
    const { id, next_run_at: slot } = schedule
    const next = nextRunAt(schedule, now)
    if (slot === null || next === null || slot <= next) continue
    await inTx(ctx, (tx) => updateNextRun(tx.db, { id, slot, next }))
    ctx.world.log.info({ schedule: id, next }, 'due time recomputed: the clock was ahead')
  }
}

/**
 * The time of a later run or anchor, if the schedule has one after this due time: then a clock that was behind set the due
 * time back, and it must not fire again. Null otherwise. A manual run within a minute after the due time does not count.
 */
export function ranAfterSlot(schedule: ScheduleRow, slot: string, now: number): number | null {
  const withSkew = toIsoTime(Date.parse(slot) + MAX_CLOCK_SKEW_MS)
  const laterTimes = [schedule.anchor_at, schedule.last_run_at ?? ''].filter(
    (at) => at > withSkew && at <= toIsoTime(now),
  )
  return laterTimes.length > 0 ? Math.max(...laterTimes.map((at) => Date.parse(at))) : null
}
