import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cadence, nextRunTime } from '../../../src/platform/base/cadence.ts'

const at = (text: string) => Date.parse(text)
const DAY = 86_400_000

describe('nextRunTime', () => {
  const nine: Cadence = { kind: 'daily', hour: 9, minute: 30 }
  const last: Cadence = { kind: 'monthly', day: 31, hour: 0, minute: 0 }
  const noon: Cadence = { kind: 'monthly', day: 15, hour: 12, minute: 5 }
  test.each<[string, Cadence, string, string]>([
    ['later today', nine, '2026-03-01T09:29:59.999Z', '2026-03-01T09:30:00.000Z'],
    ['not now', nine, '2026-03-01T09:30:00.000Z', '2026-03-02T09:30:00.000Z'],
    ['over the end of a year', nine, '2026-12-31T23:00:00.000Z', '2027-01-01T09:30:00.000Z'],
    ['over a leap day', nine, '2028-02-28T10:00:00.000Z', '2028-02-29T09:30:00.000Z'],
    ['this month', noon, '2026-03-01T00:00:00.000Z', '2026-03-15T12:05:00.000Z'],
    ['next month', noon, '2026-03-15T12:05:00.000Z', '2026-04-15T12:05:00.000Z'],
    ['next year', noon, '2026-12-20T00:00:00.000Z', '2027-01-15T12:05:00.000Z'],
    ['the last of February', last, '2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['the last of a leap February', last, '2028-01-31T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['no February in a century without leap', last, '2100-02-01T00:00:00.000Z', '2100-02-28T00:00:00.000Z'],
    ['back to the 31st', last, '2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z'],
    ['the last of April', last, '2026-03-31T00:00:00.001Z', '2026-04-30T00:00:00.000Z'],
    ['late on the last of April', last, '2026-04-30T20:00:00.000Z', '2026-05-31T00:00:00.000Z'],
    ['the 31st of January', last, '2026-12-31T00:00:00.000Z', '2027-01-31T00:00:00.000Z'],
    [
      'a period after the anchor',
      { kind: 'every', seconds: 90 },
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:01:30.000Z',
    ],
    ['the running period', { kind: 'every', seconds: 90 }, '2026-01-01T00:01:29.999Z', '2026-01-01T00:01:30.000Z'],
    ['the next period', { kind: 'every', seconds: 90 }, '2026-01-01T00:01:30.000Z', '2026-01-01T00:03:00.000Z'],
    [
      'aligned after a long pause',
      { kind: 'every', seconds: 7200 },
      '2026-01-09T03:11:00.000Z',
      '2026-01-09T04:00:00.000Z',
    ],
  ])('%s', (_, cadence, after, expected) => {
    expect(new Date(nextRunTime(cadence, at(after), at('2026-01-01T00:00:00.000Z'))).toISOString()).toBe(expected)
  })
})

const moment = fc.integer({ min: at('1999-01-01'), max: at('2105-01-01') })
const hour = fc.integer({ min: 0, max: 23 })
const minute = fc.integer({ min: 0, max: 59 })
const every = fc.record({ kind: fc.constant('every' as const), seconds: fc.integer({ min: 1, max: 31_536_000 }) })
const daily = fc.record({ kind: fc.constant('daily' as const), hour, minute })
const monthly = fc.record({ kind: fc.constant('monthly' as const), day: fc.integer({ min: 1, max: 31 }), hour, minute })

/** Whether a cadence fires on a day, defined without arithmetic on months. */
function firesOn(cadence: { kind: string; day?: number }, midnight: number): boolean {
  if (cadence.day === undefined) return true
  const day = new Date(midnight).getUTCDate()
  const isLast = new Date(midnight + DAY).getUTCDate() === 1
  return day === cadence.day || (isLast && day < cadence.day)
}

const months = (time: number) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()

describe('nextRunTime for all dates', () => {
  test('a due time is strictly later and valid, and no earlier due time is', () => {
    fc.assert(
      fc.property(every, moment, moment, (cadence, after, anchor) => {
        const next = nextRunTime(cadence, after, anchor)
        expect(next).toBeGreaterThan(after)
        expect(next - cadence.seconds * 1000).toBeLessThanOrEqual(after)
        expect(Math.abs((next - anchor) % (cadence.seconds * 1000))).toBe(0)
      }),
    )
  })

  test('daily and monthly due times are the first matching ones of the calendar', () => {
    fc.assert(
      fc.property(fc.oneof(daily, monthly), moment, (cadence, after) => {
        let midnight = Math.floor(after / DAY) * DAY
        const slot = () => midnight + cadence.hour * 3_600_000 + cadence.minute * 60_000
        while (slot() <= after || !firesOn(cadence, midnight)) midnight += DAY
        expect(nextRunTime(cadence, after, 0)).toBe(slot())
      }),
      { numRuns: 500 },
    )
  })

  test('a monthly cadence fires once in every month', () => {
    fc.assert(
      fc.property(monthly, moment, (cadence, start) => {
        let run = nextRunTime(cadence, start, 0)
        for (let count = 0; count < 50; count++) {
          const next = nextRunTime(cadence, run, 0)
          expect(months(next)).toBe(months(run) + 1)
          run = next
        }
      }),
      { numRuns: 30 },
    )
  })

  test('an earlier start never gives a later due time', () => {
    fc.assert(
      fc.property(fc.oneof(every, daily, monthly), moment, moment, (cadence, a, b) => {
        const [early, late] = [nextRunTime(cadence, Math.min(a, b), 0), nextRunTime(cadence, Math.max(a, b), 0)]
        expect(early).toBeLessThanOrEqual(late)
      }),
    )
  })
})

describe('the cadence schema', () => {
  test('every kind of cadence is accepted', () => {
    fc.assert(
      fc.property(fc.oneof(every, daily, monthly), (cadence) => {
        expect(Cadence.parse(cadence)).toEqual(cadence)
      }),
    )
  })

  test.each([
    null,
    'daily',
    {},
    { kind: 'weekly' },
    { kind: 'every' },
    { kind: 'every', seconds: 0 },
    { kind: 'every', seconds: 1.5 },
    { kind: 'every', seconds: 31_536_001 },
    { kind: 'every', seconds: '60' },
    { kind: 'daily', hour: 24, minute: 0 },
    { kind: 'daily', hour: 1 },
    { kind: 'daily', hour: -1, minute: 0 },
    { kind: 'daily', hour: 1, minute: 60 },
    { kind: 'monthly', day: 0, hour: 0, minute: 0 },
    { kind: 'monthly', day: 32, hour: 0, minute: 0 },
    { kind: 'monthly', hour: 0, minute: 0 },
  ])('%j is refused', (cadence) => {
    expect(Cadence.safeParse(cadence).success).toBe(false)
  })
})
