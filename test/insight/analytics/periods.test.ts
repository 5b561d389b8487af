import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { reportDays, toPeriods } from '../../../src/insight/analytics/periods.ts'

const NOON = Date.parse('2026-03-02T12:00:00.000Z')
const DAY = 86_400_000

test('a report ends today and has the requested number of days', () => {
  expect(reportDays(NOON, 3)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
  expect(reportDays(Date.parse('2026-03-02T00:00:00.000Z'), 1)).toEqual(['2026-03-02'])
})

test.each<[string, number, string[]]>([
  ['2026-03-02', 1, ['2026-03-02']],
  ['2026-03-02', 3, ['2026-02-28', '2026-03-01', '2026-03-02']],
  ['2026-03-01', 30, ['2026-01-31', '2026-02', '2026-03-01']],
  ['2024-02-29', 29, ['2024-02']],
  ['2026-04-30', 62, ['2026-02-28', '2026-03', '2026-04']],
])('on %s a report of %i days has these periods', (today, days, periods) => {
  expect(toPeriods(reportDays(Date.parse(today), days))).toEqual(periods)
})

test('every report has at most 72 periods and counts each of its days once and no other day', () => {
  const today = fc.integer({ min: Date.parse('2023-01-01') / DAY, max: Date.parse('2029-12-31') / DAY })
  fc.assert(
    fc.property(today, fc.integer({ min: 1, max: 365 }), (at, days) => expectEachOnce(at * DAY, days)),
    { numRuns: 300 },
  )
  for (let days = 1; days <= 365; days++) expectEachOnce(NOON, days)
})

function expectEachOnce(now: number, days: number): void {
  const requestedDays = reportDays(now, days)
  const periods = toPeriods(requestedDays)
  const all = new Set(periods)
  const counted = daysOfYears(requestedDays).flatMap((day) =>
    [day, day.slice(0, 7)].flatMap((period) => (all.has(period) ? [day] : [])),
  )
  expect(all.size).toBe(periods.length)
  expect(counted).toEqual(requestedDays)
  expect(periods.length).toBeLessThanOrEqual(72)
}

/** All days of the years of a report, including future days. */
function daysOfYears(requestedDays: readonly string[]): string[] {
  const [first, last] = [requestedDays[0]?.slice(0, 4), requestedDays.at(-1)?.slice(0, 4)]
  const [start, end] = [Date.parse(`${first}-01-01`), Date.parse(`${last}-12-31`)]
  return reportDays(end, (end - start) / DAY + 1)
}
