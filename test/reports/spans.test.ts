import { expect, test } from 'vitest'
import { daysBefore, spansOf } from '../../src/reports/spans.ts'

const NOON = Date.parse('2026-03-02T12:00:00.000Z')

test('a report ends today and has so many days', () => {
  expect(daysBefore(NOON, 3)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
  expect(daysBefore(Date.parse('2026-03-02T00:00:00.000Z'), 1)).toEqual(['2026-03-02'])
})

test('a year is its whole months and the days at its ends, each day once', () => {
  for (let days = 1; days <= 365; days++) {
    const all = daysBefore(NOON, days)
    const spans = spansOf(all)
    const covered = all.filter((day) => spans.includes(day) !== spans.includes(day.slice(0, 7)))
    expect(covered).toEqual(all)
    const months = spans.filter((span) => span.length === 7)
    for (const month of months) expect(all.filter((day) => day.startsWith(month)).length).toBe(lengthOf(month))
    expect(spans.length - months.length).toBeLessThan(62)
  }
  expect(spansOf(daysBefore(NOON, 31))).toEqual(['2026-02', '2026-01-31', '2026-03-01', '2026-03-02'])
})

function lengthOf(month: string): number {
  const [year = 0, n = 0] = month.split('-').map(Number)
  return new Date(Date.UTC(year, n, 0)).getUTCDate()
}
