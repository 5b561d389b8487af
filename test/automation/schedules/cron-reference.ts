const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * The due times of a cron expression after `from` up to `to`, found minute by minute without a cron library. An expression
 * with one minute and one hour fires once a day: at the first instant after the gap if its local time is skipped, and at
 * the first of the two if it is repeated. Any other expression fires in every minute whose local time matches, so not
 * in a gap, and twice in a repeated hour.
 */
export function cronTimes(expr: string, tz: string, from: number, to: number): number[] {
  const fields = parseFields(expr)
  const isFixedTime = fields.slice(0, 2).every(({ values, isWild }) => values.size === 1 && !isWild)
  const times: number[] = []
  const start = Math.floor(from / MINUTE) * MINUTE - 3 * HOUR
  let latest = localTime(tz, start - MINUTE)
  for (let time = start; time <= to; time += MINUTE) {
    const local = localTime(tz, time)
    const fires = isFixedTime ? hasMatch(fields, latest + MINUTE, local) : matches(fields, local)
    if (fires && time > from) times.push(time)
    latest = Math.max(latest, local)
  }
  return times
}

/** The instants at which the clocks of a zone change, from the first to the last year. */
export function listTransitions(tz: string, firstYear: number, lastYear: number): number[] {
  const offset = (time: number) => localTime(tz, time) - time
  const found: number[] = []
  for (let time = Date.UTC(firstYear, 0, 1); time < Date.UTC(lastYear + 1, 0, 1); time += HOUR / 2) {
    if (offset(time) !== offset(time - HOUR / 2)) found.push(time)
  }
  return found
}

const zones = new Map<string, (time: number) => number>()

/** What the clocks of a zone show, to the minute, as if it were UTC. */
function localTime(tz: string, time: number): number {
  const toLocal = zones.get(tz) ?? createLocalTime(tz)
  zones.set(tz, toLocal)
  return toLocal(time)
}

function createLocalTime(timeZone: string): (time: number) => number {
  const numeric = 'numeric' as const
  const parts = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric }
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts })
  const known = new Map<number, number>()
  return (time) => {
    const cached = known.get(time)
    if (cached !== undefined) return cached
    const shown = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
    const part = (name: Intl.DateTimeFormatPartTypes) => shown.get(name) ?? Number.NaN
    const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
    known.set(time, local)
    return local
  }
}

interface Field {
  values: ReadonlySet<number>
  isWild: boolean
}

const RANGES = ['0-59', '0-23', '1-31', '1-12', '0-6']

/** Numbers, lists, ranges, steps and `*`. */
function parseFields(expr: string): Field[] {
  return expr.split(' ').map((text, n) => ({ values: parseField(text, RANGES[n] ?? ''), isWild: text.includes('*') }))
}

function parseField(text: string, all: string): Set<number> {
  return new Set(
    text.split(',').flatMap((part) => {
      const [range = '', step = '1'] = part.replace('*', all).split('/')
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: Math.floor((last - first) / Number(step)) + 1 }, (_, n) => first + n * Number(step))
    }),
  )
}

/** Whether a local time from `first` to `last` matches; there are none if `last` is shown for the second time. */
function hasMatch(fields: readonly Field[], first: number, last: number): boolean {
  for (let local = first; local <= last; local += MINUTE) if (matches(fields, local)) return true
  return false
}

function matches([minute, hour, day, month, weekday]: readonly Field[], local: number): boolean {
  const date = new Date(local)
  const has = (field: Field | undefined, value: number) => field?.values.has(value) ?? false
  const [onDay, onWeekday] = [has(day, date.getUTCDate()), has(weekday, date.getUTCDay())]
  // If both are restricted, one of them is enough.
  const matchesDay = day?.isWild || weekday?.isWild ? onDay && onWeekday : onDay || onWeekday
  const matchesTime = has(minute, date.getUTCMinutes()) && has(hour, date.getUTCHours())
  return matchesTime && matchesDay && has(month, date.getUTCMonth() + 1)
}
