import type { Cadence } from '../../api/setup-queries.ts'
import { schedulesText } from './text.ts'

export function describeCadence(cadence: Cadence): string {
  if (cadence.kind === 'every') return schedulesText.everySeconds(cadence.seconds)
  const { hour, minute } = cadence
  // The service keeps the time of day in UTC: a local time would be wrong for half of the year.
  const time = new Date(Date.UTC(2000, 0, 1, hour, minute)).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  })
  return cadence.kind === 'daily' ? schedulesText.dailyAt(time) : schedulesText.monthlyAt(cadence.day, time)
}

/** The first run and those that follow it, as ISO timestamps. */
export function listNextRuns(cadence: Cadence, first: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => runAfter(new Date(first), cadence, i).toISOString())
}

/** Predicts the first run of a new cadence; the service decides it when the schedule is saved. */
export function firstRun(cadence: Cadence, now: Date): string {
  if (cadence.kind === 'every') return new Date(now.getTime() + cadence.seconds * 1_000).toISOString()
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const today = new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
  const slot = cadence.kind === 'daily' ? today : runAfter(now, cadence, 0)
  return (slot > now ? slot : runAfter(slot, cadence, 1)).toISOString()
}

function runAfter(first: Date, cadence: Cadence, steps: number): Date {
  if (cadence.kind === 'every') return new Date(first.getTime() + steps * cadence.seconds * 1_000)
  if (cadence.kind === 'daily') return new Date(first.getTime() + steps * 86_400_000)
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + steps]
  // In a month without that day the schedule runs on the last day.
  const day = Math.min(cadence.day, new Date(Date.UTC(year, month + 1, 0)).getUTCDate())
  return new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
}
