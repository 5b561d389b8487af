import { z } from 'zod'

const hour = z.int().min(0).max(23)
const minute = z.int().min(0).max(59)

/** When a schedule fires; all times are UTC. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('every'), seconds: z.int().min(1).max(31_536_000) }),
  z.object({ kind: z.literal('daily'), hour, minute }),
  z.object({ kind: z.literal('monthly'), day: z.int().min(1).max(31), hour, minute }),
])
export type Cadence = z.infer<typeof Cadence>

/**
 * The first due time strictly after `after`, in epoch milliseconds. The due times of `every` are whole periods from the
 * anchor, so a late run does not shift the next ones. Those of the other kinds are fixed by the calendar.
 */
export function nextRunTime(cadence: Cadence, after: number, anchor: number): number {
  if (cadence.kind === 'every') {
    const period = cadence.seconds * 1000
    return anchor + (Math.floor((after - anchor) / period) + 1) * period
  }
  const now = new Date(after)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  if (cadence.kind === 'daily') {
    const today = Date.UTC(year, month, now.getUTCDate(), cadence.hour, cadence.minute)
    return today > after ? today : today + 86_400_000
  }
  const thisMonth = timeInMonth(cadence, year, month)
  return thisMonth > after ? thisMonth : timeInMonth(cadence, year, month + 1)
}

/** A day that the month does not have becomes its last day. */
function timeInMonth(cadence: { day: number; hour: number; minute: number }, year: number, month: number): number {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(cadence.day, lastDay), cadence.hour, cadence.minute)
}
