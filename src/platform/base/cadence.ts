import { z } from 'zod'
import { findCronProblem, isTimeZone, nextCronTime } from './cron.ts'

const hour = z.int().min(0).max(23)
const minute = z.int().min(0).max(59)

const cronExpression = z
  .string()
  .max(200)
  .superRefine((expr, issues) => {
    const message = findCronProblem(expr)
    if (message !== null) issues.addIssue({ code: 'custom', message })
  })
  .meta({ description: 'Five cron fields: minute, hour, day, month, weekday.', example: '30 9 * * 1-5' })

export const timeZoneField = z
  .string()
  .max(100)
  .refine(isTimeZone, "must be an IANA time zone, such as 'Europe/Berlin'")
  .meta({ description: 'An IANA time zone.', example: 'Europe/Berlin' })

/** When a schedule fires; the times of `daily` and `monthly` are UTC. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('every'), seconds: z.int().min(1).max(31_536_000) }),
  z.object({ kind: z.literal('daily'), hour, minute }),
  z.object({ kind: z.literal('monthly'), day: z.int().min(1).max(31), hour, minute }),
  z.object({ kind: z.literal('cron'), expr: cronExpression, tz: timeZoneField }),
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
  if (cadence.kind === 'cron') return nextCronTime(cadence, after)
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
