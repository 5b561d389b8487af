const DAY_MS = 86_400_000

/** The UTC days of a report that ends today. */
export function reportDays(now: number, days: number): string[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, n) => dayAt(today - (days - 1 - n) * DAY_MS))
}

/** The periods that a day belongs to: the day, its month and its year. */
export const periodsOfDay = (day: string) => [day, day.slice(0, 7), day.slice(0, 4)]

/** Periods to add and periods to subtract. */
export interface PeriodSum {
  plus: readonly string[]
  minus: readonly string[]
}

/**
 * The days as few periods: years and months minus the other days, where that needs fewer. Periods after the last day have
 * no rows, unless a clock was wrong, so they cost nothing and must not be counted.
 */
export function toPeriodSum(days: readonly string[]): PeriodSum {
  const [from = '', to = ''] = [days[0], days.at(-1)]
  const years = [...new Set([from, to].map((day) => day.slice(0, 4)))]
  return joinSums(years.map((year) => splitPeriod(year, from, to).inside))
}

/** Splits a period into the days inside the range and the days outside, each as a sum or as the whole minus the other. */
function splitPeriod(period: string, from: string, to: string): { inside: PeriodSum; outside: PeriodSum } {
  const whole = { plus: [period], minus: [] }
  const [first, last] = [from.slice(0, period.length), to.slice(0, period.length)]
  if (period < first || period > last) return { inside: NO_PERIODS, outside: whole }
  if (period.length === from.length || (period > first && period < last)) return { inside: whole, outside: NO_PERIODS }
  const parts = partsOfPeriod(period).map((part) => splitPeriod(part, from, to))
  const inside = joinSums(parts.map((part) => part.inside))
  const outside = joinSums(parts.map((part) => part.outside))
  return {
    inside: cheaper(inside, subtract(whole, outside), to),
    outside: cheaper(outside, subtract(whole, inside), to),
  }
}

const NO_PERIODS: PeriodSum = { plus: [], minus: [] }

/** The months of a year or the days of a month. */
function partsOfPeriod(period: string): string[] {
  const [year = 0, month] = period.split('-').map(Number)
  const parts = month === undefined ? 12 : new Date(Date.UTC(year, month, 0)).getUTCDate()
  return Array.from({ length: parts }, (_, n) => `${period}-${String(n + 1).padStart(2, '0')}`)
}

const joinSums = (all: readonly PeriodSum[]): PeriodSum => ({
  plus: all.flatMap(({ plus }) => plus),
  minus: all.flatMap(({ minus }) => minus),
})

const subtract = (whole: PeriodSum, other: PeriodSum) => joinSums([whole, { plus: other.minus, minus: other.plus }])

/** The first, unless the second has fewer periods that can have rows. */
function cheaper(first: PeriodSum, second: PeriodSum, to: string): PeriodSum {
  const cost = ({ plus, minus }: PeriodSum) => [...plus, ...minus].filter((period) => period <= to).length
  return cost(second) < cost(first) ? second : first
}

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)
