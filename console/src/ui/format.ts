/** Numbers, dates and times in the browser's locale and time zone. */
const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const shortTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })

type Timestamp = string | number

const toDate = (ts: Timestamp): Date => new Date(ts)

/** Hours, minutes and seconds. */
export const formatTime = (ts: Timestamp): string => time.format(toDate(ts))

/** Hours and minutes. */
export const formatShortTime = (ts: Timestamp): string => shortTime.format(toDate(ts))

export const formatDate = (ts: Timestamp): string => date.format(toDate(ts))

export const formatDateTime = (ts: Timestamp): string => dateTime.format(toDate(ts))

/** A calendar day of the API (`2026-11-17`), which is a day in UTC. */
export const formatDay = (isoDay: string): string => day.format(new Date(`${isoDay}T00:00:00Z`))

const UNITS: ['day' | 'hour' | 'minute', number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** The distance from `now`, such as "5 min. ago"; less than a minute is "now". */
export function formatRelative(ts: Timestamp, now: number): string {
  const distance = toDate(ts).getTime() - now
  const [unit, ms] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? (['second', Infinity] as const)
  return relative.format(Math.round(distance / ms), unit)
}

export const formatNumber = (value: number): string => value.toLocaleString()

/** A share between 0 and 1. */
export const formatPercent = (share: number): string => percent.format(share)

/** Amounts below one cent keep four decimals, because a single model call often costs less. */
export function formatUsd(amount: number): string {
  return formatMoney(amount, 'USD', amount > 0 && amount < 0.01 ? 4 : 2)
}

/** The decimals of a currency: two for dollars, none for yen. */
export const moneyDigits = (currency: string): number =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

const MAX_DECIMALS = 20

/** Without `decimals` no digit is hidden. An unknown currency code is written behind the number. */
export function formatMoney(amount: number, currency: string, decimals?: number): string {
  try {
    const digits = {
      minimumFractionDigits: decimals ?? moneyDigits(currency),
      maximumFractionDigits: decimals ?? MAX_DECIMALS,
    }
    return amount.toLocaleString(undefined, {
      style: 'currency',
      currency,
      currencyDisplay: displayOf(currency),
      ...digits,
    })
  } catch {
    return `${amount.toLocaleString()} ${currency}`
  }
}

/** "$" means US dollars in every locale: limits are in US dollars. Other dollars have a longer symbol or their code. */
function displayOf(currency: string): 'narrowSymbol' | 'symbol' | 'code' {
  if (currency.toUpperCase() === 'USD') return 'narrowSymbol'
  const parts = new Intl.NumberFormat(undefined, { style: 'currency', currency }).formatToParts(0)
  return parts.some(({ type, value }) => type === 'currency' && value === '$') ? 'code' : 'symbol'
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${withOneDecimal(ms / 1_000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return formatHours(minutes)
}

/** The time left: minutes and seconds such as 4:05, or 5 h 12 min, or 2 d 3 h. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes}:${String(seconds % 60).padStart(2, '0')}` : formatHours(minutes)
}

/** The time left in words for a screen reader: 5 minutes, 3 hours, 2 days. */
export function formatTimeLeft(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? (['minute', 60_000] as const)
  const count = unit === 'minute' ? Math.ceil(ms / size) : Math.floor(ms / size)
  return count.toLocaleString(undefined, { style: 'unit', unit, unitDisplay: 'long' })
}

/** Hours and minutes, or days and hours; a second part of zero is left out. */
function formatHours(minutes: number): string {
  const hours = Math.floor(minutes / 60)
  return hours < 24
    ? joinUnits(hours, 'h', minutes % 60, 'min')
    : joinUnits(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const joinUnits = (count: number, unit: string, rest: number, restUnit: string) =>
  rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`

export function formatBytes(size: number): string {
  if (size < 1_024) return `${size} B`
  return size < 1_048_576 ? `${withOneDecimal(size / 1_024)} KB` : `${withOneDecimal(size / 1_048_576)} MB`
}

const withOneDecimal = (value: number): string =>
  value.toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
