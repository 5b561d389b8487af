import { Cron } from 'croner'
import type { Cadence } from '../../api/setup-queries.ts'
import { schedulesText } from './text.ts'

/** The time zone of a cron expression is shown beside it. */
export function describeCadence(cadence: Cadence): string {
  if (cadence.kind === 'every') return schedulesText.everySeconds(cadence.seconds)
  if (cadence.kind === 'cron') return cadence.expr
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
  if (cadence.kind === 'cron') return [first, ...listCronRuns(cadence, new Date(first), count - 1)]
  return Array.from({ length: count }, (_, i) => runAfter(new Date(first), cadence, i).toISOString())
}

/** Uses the library of the service, so that both agree on daylight saving time. An expression that is not valid has no runs. */
function listCronRuns({ expr, tz }: CronCadence, after: Date, count: number): string[] {
  try {
    const cron = new Cron(expr, { paused: true, mode: '5-part', timezone: tz })
    return cron.nextRuns(count, after).map((run) => run.toISOString())
  } catch {
    return []
  }
}

type CronCadence = Extract<Cadence, { kind: 'cron' }>
type FixedCadence = Exclude<Cadence, CronCadence>

/** Predicts the first run of a new cadence; null if it has none. The service decides it when the schedule is saved. */
export function firstRun(cadence: Cadence, now: Date): string | null {
  if (cadence.kind === 'cron') return listCronRuns(cadence, now, 1)[0] ?? null
  if (cadence.kind === 'every') return new Date(now.getTime() + cadence.seconds * 1_000).toISOString()
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const today = new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
  const slot = cadence.kind === 'daily' ? today : runAfter(now, cadence, 0)
  return (slot > now ? slot : runAfter(slot, cadence, 1)).toISOString()
}

function runAfter(first: Date, cadence: FixedCadence, steps: number): Date {
  if (cadence.kind === 'every') return new Date(first.getTime() + steps * cadence.seconds * 1_000)
  if (cadence.kind === 'daily') return new Date(first.getTime() + steps * 86_400_000)
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + steps]
  // In a month without that day the schedule runs on the last day.
  const day = Math.min(cadence.day, new Date(Date.UTC(year, month + 1, 0)).getUTCDate())
  return new Date(Date.UTC(year, month, day, cadence.hour, cadence.minute))
}
