const DAY_MS = 86_400_000

/** The UTC days of a report that ends now: so many, today included. */
export function reportDays(now: number, days: number): string[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, n) => dayAt(today - (days - 1 - n) * DAY_MS))
}

/** A day, its month and its year: what counts on a day counts in each. */
export const periodsOfDay = (day: string) => [day, day.slice(0, 7), day.slice(0, 4)]

/** Spans to add and spans to take away. */
export interface PeriodSum {
  plus: readonly string[]
  minus: readonly string[]
}

/**
 * The same days as few spans: years and months less the days that are not asked for, where those are fewer. Spans after
 * the last day are for nothing: they have no rows, unless a clock was wrong, and then they must not count.
 */
export function toPeriodSum(days: readonly string[]): PeriodSum {
  const [from = '', to = ''] = [days[0], days.at(-1)]
  const years = [...new Set([from, to].map((day) => day.slice(0, 4)))]
  return joinSums(years.map((year) => splitPeriod(year, from, to).inside))
}

/** The days of a span that are asked for, and its others: each all that is in it, or the whole less the other. */
function splitPeriod(span: string, from: string, to: string): { inside: PeriodSum; outside: PeriodSum } {
  const whole = { plus: [span], minus: [] }
  const [first, last] = [from.slice(0, span.length), to.slice(0, span.length)]
  if (span < first || span > last) return { inside: NO_PERIODS, outside: whole }
  if (span.length === from.length || (span > first && span < last)) return { inside: whole, outside: NO_PERIODS }
  const parts = partsOfPeriod(span).map((part) => splitPeriod(part, from, to))
  const inside = joinSums(parts.map((part) => part.inside))
  const outside = joinSums(parts.map((part) => part.outside))
  return {
    inside: cheaper(inside, subtract(whole, outside), to),
    outside: cheaper(outside, subtract(whole, inside), to),
  }
}

const NO_PERIODS: PeriodSum = { plus: [], minus: [] }

/** The months of a year or the days of a month. */
function partsOfPeriod(span: string): string[] {
  const [year = 0, month] = span.split('-').map(Number)
  const parts = month === undefined ? 12 : new Date(Date.UTC(year, month, 0)).getUTCDate()
  return Array.from({ length: parts }, (_, n) => `${span}-${String(n + 1).padStart(2, '0')}`)
}

const joinSums = (all: readonly PeriodSum[]): PeriodSum => ({
  plus: all.flatMap(({ plus }) => plus),
  minus: all.flatMap(({ minus }) => minus),
})

const subtract = (whole: PeriodSum, other: PeriodSum) => joinSums([whole, { plus: other.minus, minus: other.plus }])

/** The first, unless the second has fewer spans with rows in them. */
function cheaper(first: PeriodSum, second: PeriodSum, to: string): PeriodSum {
  const cost = ({ plus, minus }: PeriodSum) => [...plus, ...minus].filter((span) => span <= to).length
  return cost(second) < cost(first) ? second : first
}

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)
