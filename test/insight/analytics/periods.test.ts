import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportDays, toPeriodSum } from '../../../src/insight/analytics/periods.ts'

const NOON = Date.parse('2026-03-02T12:00:00.000Z')
const DAY = 86_400_000

test('a report ends today and has the requested number of days', () => {
  expect(reportDays(NOON, 3)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
  expect(reportDays(Date.parse('2026-03-02T00:00:00.000Z'), 1)).toEqual(['2026-03-02'])
})

test.each<[string, number, string[], string[]]>([
  ['2026-03-02', 1, ['2026-03-02'], []],
  ['2026-03-02', 3, ['2026-02-28', '2026-03'], []],
  ['2026-03-02', 31, ['2026-01-31', '2026-02', '2026-03'], []],
  ['2026-03-02', 61, ['2026'], []],
  ['2026-10-30', 28, ['2026-10'], ['2026-10-01', '2026-10-02']],
  ['2026-12-15', 313, ['2026'], ['2026-01', '2026-02-01', '2026-02-02', '2026-02-03', '2026-02-04', '2026-02-05']],
  ['2026-12-31', 365, ['2026'], []],
])('on %s a report of %i days needs few periods', (today, days, plus, minus) => {
  const periods = toPeriodSum(reportDays(Date.parse(today), days))
  expect({ plus: periods.plus, minus: withRows(periods.minus, today) }).toEqual({ plus, minus })
})

test('every report needs few periods and counts each of its days once and no other day', () => {
  const today = fc.integer({ min: Date.parse('2023-01-01') / DAY, max: Date.parse('2029-12-31') / DAY })
  fc.assert(
    fc.property(today, fc.integer({ min: 1, max: 365 }), (at, days) => expectEachOnce(at * DAY, days)),
    { numRuns: 300 },
  )
  for (let days = 1; days <= 365; days++) expectEachOnce(NOON, days)
})

function expectEachOnce(now: number, days: number): void {
  const requestedDays = reportDays(now, days)
  const periods = toPeriodSum(requestedDays)
  const last = requestedDays.at(-1) ?? ''
  const signs = new Map([
    ...periods.plus.map((period) => [period, 1] as const),
    ...periods.minus.map((period) => [period, -1] as const),
  ])
  const counted = daysOfYears(requestedDays).flatMap((day) => {
    const times = timesCounted(signs, day)
    return times === 0 ? [] : [`${times} × ${day}`]
  })
  expect(counted).toEqual(requestedDays.map((day) => `1 × ${day}`))
  const all = [...periods.plus, ...periods.minus]
  expect(new Set(all).size).toBe(all.length)
  expect(withRows(all, last).length).toBeLessThan(36)
}

function timesCounted(signs: ReadonlyMap<string, number>, day: string): number {
  return [day, day.slice(0, 7), day.slice(0, 4)].reduce((sum, period) => sum + (signs.get(period) ?? 0), 0)
}

/** All days of the years of a report, including future days. */
function daysOfYears(requestedDays: readonly string[]): string[] {
  const [first, last] = [requestedDays[0]?.slice(0, 4), requestedDays.at(-1)?.slice(0, 4)]
  const [start, end] = [Date.parse(`${first}-01-01`), Date.parse(`${last}-12-31`)]
  return reportDays(end, (end - start) / DAY + 1)
}

/** The periods that can have rows: future ones are empty. */
const withRows = (periods: readonly string[], today: string) => periods.filter((period) => period <= today)
