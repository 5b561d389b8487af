import { describe, expect, test } from 'vitest'
import { Cadence, nextRunTime } from '../../../src/platform/base/cadence.ts'
import { cronTimes, listTransitions } from './cron-reference.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const iso = (ms: number) => new Date(ms).toISOString()

/** Clocks change by an hour, by half an hour, at midnight, or not at all. */
const ZONES = [
  { tz: 'Europe/Berlin', transitions: 14 },
  { tz: 'America/New_York', transitions: 14 },
  { tz: 'Australia/Lord_Howe', transitions: 14 },
  { tz: 'America/Santiago', transitions: 14 },
  { tz: 'America/Sao_Paulo', transitions: 0 },
  { tz: 'Asia/Kolkata', transitions: 0 },
]

/** One time a day in and beside skipped and repeated hours, several times a day, and limits to days and months. */
const EXPRESSIONS = [
  '0 0 * * *',
  '15 1 * * *',
  '45 1 * * *',
  '0 2 * * *',
  '30 2 * * *',
  '0 3 * * *',
  '30 23 * * *',
  '30 2-2 * * 0',
  '0 2,3 * * *',
  '15,45 0-3 * * *',
  '*/15 * * * *',
  '0 */2 * * *',
  '30 2 1-7 3,4,10,11 0',
]

describe.each(ZONES)('cron in $tz', ({ tz, transitions: expected }) => {
  const transitions = listTransitions(tz, 2024, 2030)
  const moments =
    expected === 0 ? ['2024-02-29', '2026-03-29', '2030-12-31'].map((day) => Date.parse(day)) : transitions

  test(`2024 to 2030 has ${expected} transitions`, () => {
    expect(transitions).toHaveLength(expected)
  })

  test.each(EXPRESSIONS)('%s: all due times around each transition are those of the reference', (expr) => {
    for (const moment of moments) {
      const [from, to] = [moment - 30 * HOUR, moment + 30 * HOUR]
      expect(listRuns({ expr, tz }, from, to).map(iso)).toEqual(cronTimes(expr, tz, from, to).map(iso))
    }
  })

  test('the next due time is right from any moment near a transition', () => {
    for (const expr of ['30 2 * * *', '*/15 * * * *'])
      for (const moment of moments) {
        const due = cronTimes(expr, tz, moment - 3 * HOUR, moment + 30 * HOUR)
        for (let after = moment - 3 * HOUR; after < moment + 3 * HOUR; after += 7.3 * MINUTE) {
          const next = nextRunTime({ kind: 'cron', expr, tz }, after, 0)
          expect(iso(next)).toBe(iso(due.find((time) => time > after) ?? 0))
        }
      }
  })
})

test('an hour that is repeated has every minute twice', () => {
  const from = Date.parse('2026-10-24T23:59:00.000Z')
  const runs = listRuns({ expr: '* 2 * * *', tz: 'Europe/Berlin' }, from, from + 4 * HOUR)
  expect(runs).toEqual(Array.from({ length: 120 }, (_, n) => from + (n + 1) * MINUTE))
})

test.each([
  ['the last day of the month', '0 0 L * *', '2026-01-31'],
  ['the last weekday of the month', '0 0 LW * *', '2026-01-30'],
  ['the second Friday', '0 0 * * FRI#2', '2026-01-09'],
  ['the 13th or a Friday', '0 0 13 * 5', '2026-01-02'],
  ['the 13th if it is a Friday', '0 0 13 * +5', '2026-02-13'],
  ['Sunday as 7', '0 0 * * 7', '2026-01-04'],
  ['a leap day on a Monday', '0 0 29 2 +1', '2044-02-29'],
])('%s', (_, expr, day) => {
  const cadence = Cadence.parse({ kind: 'cron', expr, tz: 'UTC' })
  expect(iso(nextRunTime(cadence, Date.parse('2026-01-01T00:00:00.000Z'), 0))).toBe(`${day}T00:00:00.000Z`)
})

test.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 30 2 +MON#5', '2026-01-01T00:00:00', '', '@hourly', '5/10 * * * *'])(
  'the expression %j is refused',
  (expr) => {
    expect(Cadence.safeParse({ kind: 'cron', expr, tz: 'UTC' }).success).toBe(false)
  },
)

/** The due times after `from` up to `to`, one found from the other. */
function listRuns(cron: { expr: string; tz: string }, from: number, to: number): number[] {
  const runs: number[] = []
  for (let next = from; ; runs.push(next)) {
    next = nextRunTime({ kind: 'cron', ...cron }, next, 0)
    if (next > to) return runs
  }
}
