const DAY_MS = 86_400_000

/** The UTC days of a report that ends now: so many, today included. */
export function daysBefore(now: number, days: number): string[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, n) => dayAt(today - (days - 1 - n) * DAY_MS))
}

/** A day, its month and its year: what counts on a day counts in each. */
export const spansAround = (day: string) => [day, day.slice(0, 7), day.slice(0, 4)]

/** Spans to add and spans to take away. */
export interface Spans {
  plus: readonly string[]
  minus: readonly string[]
}

/**
 * The same days as few spans: years and months less the days that are not asked for, where those are fewer. Spans after
 * the last day are for nothing: they have no rows, unless a clock was wrong, and then they must not count.
 */
export function spansOf(days: readonly string[]): Spans {
  const [from = '', to = ''] = [days[0], days.at(-1)]
  const years = [...new Set([from, to].map((day) => day.slice(0, 4)))]
  return joined(years.map((year) => split(year, from, to).inside))
}

/** The days of a span that are asked for, and its others: each all that is in it, or the whole less the other. */
function split(span: string, from: string, to: string): { inside: Spans; outside: Spans } {
  const whole = { plus: [span], minus: [] }
  const [first, last] = [from.slice(0, span.length), to.slice(0, span.length)]
  if (span < first || span > last) return { inside: NONE, outside: whole }
  if (span.length === from.length || (span > first && span < last)) return { inside: whole, outside: NONE }
  const parts = partsOf(span).map((part) => split(part, from, to))
  const inside = joined(parts.map((part) => part.inside))
  const outside = joined(parts.map((part) => part.outside))
  return {
    inside: cheaper(inside, less(whole, outside), to),
    outside: cheaper(outside, less(whole, inside), to),
  }
}

const NONE: Spans = { plus: [], minus: [] }

/** The months of a year or the days of a month. */
function partsOf(span: string): string[] {
  const [year = 0, month] = span.split('-').map(Number)
  const parts = month === undefined ? 12 : new Date(Date.UTC(year, month, 0)).getUTCDate()
  return Array.from({ length: parts }, (_, n) => `${span}-${String(n + 1).padStart(2, '0')}`)
}

const joined = (all: readonly Spans[]): Spans => ({
  plus: all.flatMap(({ plus }) => plus),
  minus: all.flatMap(({ minus }) => minus),
})

const less = (whole: Spans, other: Spans) => joined([whole, { plus: other.minus, minus: other.plus }])

/** The first, unless the second has fewer spans with rows in them. */
function cheaper(first: Spans, second: Spans, to: string): Spans {
  const cost = ({ plus, minus }: Spans) => [...plus, ...minus].filter((span) => span <= to).length
  return cost(second) < cost(first) ? second : first
}

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)
