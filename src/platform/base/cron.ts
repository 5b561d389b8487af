import { Cron } from 'croner'

const FIELD_NAMES = ['minute', 'hour', 'day', 'month', 'weekday'] as const
const EXPECTED = "must have five cron fields (minute, hour, day, month, weekday), such as '30 9 * * 1-5'"

/** What is wrong with a cron expression; null if nothing is. */
export function findCronProblem(expr: string): string | null {
  const fields = expr.trim().split(/\s+/)
  if (fields.length !== FIELD_NAMES.length) return EXPECTED
  const wrong = fields.findIndex((field, n) => !canParse(fields.map((_, at) => (at === n ? field : '*')).join(' ')))
  if (wrong >= 0) return `${EXPECTED}: the ${FIELD_NAMES[wrong]} '${fields[wrong]}' is not valid`
  return canFire(fields.join(' ')) ? null : 'must have a day that exists: this expression never fires'
}

function canParse(expr: string): boolean {
  try {
    return Boolean(new Cron(expr, { ...NO_TIMER, mode: '5-part' }))
  } catch {
    return false
  }
}

/** Without it croner would start a timer. */
const NO_TIMER = { paused: true }

/** Every date of the calendar occurs on every weekday within 28 years, so croner need not search until the year 9999. */
function canFire(expr: string): boolean {
  const cron = new Cron(`0 ${expr} 2000-2027`, { ...NO_TIMER, mode: '7-part', utcOffset: 0 })
  return cron.nextRun(new Date(Date.UTC(2000, 0, 1) - 1000)) !== null
}

export function isTimeZone(name: string): boolean {
  // Newer versions of Node also accept offsets such as +02:00, which have no daylight saving time.
  if (!/^[a-z]/i.test(name)) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

/** The first due time strictly after `after`. `docs/decisions.md` has the rule for skipped and repeated local times. */
export function nextCronTime({ expr, tz }: { expr: string; tz: string }, after: number): number {
  const next = new Cron(expr, { ...NO_TIMER, mode: '5-part', timezone: tz }).nextRun(new Date(after))
  if (!next) throw new Error(`the cron expression '${expr}' never fires`)
  return next.getTime()
}
