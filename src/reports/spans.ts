const DAY_MS = 86_400_000

/** The UTC days of a report that ends now: so many, today included. */
export function daysBefore(now: number, days: number): string[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  return Array.from({ length: days }, (_, n) => dayAt(today - (days - 1 - n) * DAY_MS))
}

export const monthOf = (day: string) => day.slice(0, 7)

/** The same days as few spans: whole months, and the days at the ends. */
export function spansOf(days: readonly string[]): string[] {
  const last = days.at(-1) ?? ''
  const whole = new Set(days.filter((day) => day.endsWith('-01') && lastOfMonth(day) <= last).map(monthOf))
  return [...whole, ...days.filter((day) => !whole.has(monthOf(day)))]
}

function lastOfMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return dayAt(Date.UTC(year, month, 0))
}

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)
