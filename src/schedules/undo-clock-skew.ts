import { type Ctx, inTx } from '../ctx/ctx.ts'
import { toIsoTime } from '../ctx/world.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { nextRunAt } from './schedules.ts'
import { listSchedulesAhead, updateNextRun } from './rows.ts'

/** The clocks of replicas differ a little; what that does to a due time is not worth a look. */
const MAX_CLOCK_SKEW_MS = 60_000

/**
 * Takes back the due times that a clock gave which was ahead and is right again: until they came, the schedules would be
 * silent. What fired meanwhile has its slot and does not fire again.
 */
export async function undoClockSkew(ctx: Ctx): Promise<void> {
  const now = ctx.world.clock.now()
  for (const schedule of await listSchedulesAhead(ctx.db, { later: toIsoTime(now + MAX_CLOCK_SKEW_MS) })) {
    const { id, next_run_at: slot } = schedule
    const next = nextRunAt(schedule, now)
    if (slot === null || next === null || slot <= next) continue
    await inTx(ctx, (tx) => updateNextRun(tx.db, { id, slot, next }))
    ctx.world.log.info({ schedule: id, next }, 'due time taken back: the clock was ahead')
  }
}

/**
 * The moment up to which a schedule is known to be done, when its due time lies before that: a clock that was behind took
 * it back, and is right again. Null for every other. A run that somebody asked for just after the due time does not count.
 */
export function ranAfterSlot(schedule: ScheduleRow, slot: string, now: number): number | null {
  const soon = toIsoTime(Date.parse(slot) + MAX_CLOCK_SKEW_MS)
  const known = [schedule.anchor_at, schedule.last_run_at ?? ''].filter((at) => at > soon && at <= toIsoTime(now))
  return known.length > 0 ? Math.max(...known.map((at) => Date.parse(at))) : null
}
