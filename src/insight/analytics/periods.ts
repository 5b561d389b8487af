const DAY_MS = 86_400_000

/** The UTC days of a report that ends today. */
export function reportDays(now: number, days: number): string[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, n) => new Date(today - (days - 1 - n) * DAY_MS).toISOString().slice(0, 10))
}

/** The same days as whole months and the other days: the sums of a year then have at most 72 periods. */
export function toPeriods(days: readonly string[]): string[] {
  const all = new Set(days)
  const isWhole = (month: string) => all.has(`${month}-01`) && all.has(lastDayOf(month))
  return [...new Set(days.map((day) => (isWhole(day.slice(0, 7)) ? day.slice(0, 7) : day)))]
}

function lastDayOf(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}
