import { createContext, useContext } from 'react'
import type { PortalText } from '../../../client-text/en.ts'
import { type Language, PORTAL_TEXTS } from '../../../client-text/languages.ts'

const LanguageContext = createContext<Language>('en')
export const LanguageProvider = LanguageContext.Provider

export const usePortalText = (): PortalText => PORTAL_TEXTS[useContext(LanguageContext)]

/** Dates and times in the language of the portal and the time zone of the browser. */
export function useTimeFormat() {
  const language = useContext(LanguageContext)
  return {
    /** Hours and minutes, with the date unless it is today. */
    short: (ts: string) => formatShort(language, new Date(ts), new Date()),
    long: (ts: string) =>
      new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(ts)),
  }
}

/** A day such as 2026-11-24, or a time with its zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Days, times and decimal numbers as people write them. A number may be the number of an order, so it gets no separators. */
export function useValueFormat(): (value: string | number) => string {
  const language = useContext(LanguageContext)
  return (value) => {
    if (typeof value === 'number') return new Intl.NumberFormat(language, PLAIN_NUMBER).format(value)
    const at = new Date(ISO_TIME.test(value) ? value : Number.NaN)
    if (Number.isNaN(at.getTime())) return value
    // A day has no time zone.
    const style = value.includes('T') ? ({ timeStyle: 'short' } as const) : ({ timeZone: 'UTC' } as const)
    return new Intl.DateTimeFormat(language, { dateStyle: 'long', ...style }).format(at)
  }
}

const PLAIN_NUMBER = { useGrouping: false, maximumSignificantDigits: 17 } as const

/** Sizes of files, such as 132.7 kB. */
export function useBytesFormat(): (bytes: number) => string {
  const language = useContext(LanguageContext)
  return (bytes) => formatSize(language, bytes)
}

function formatSize(language: Language, bytes: number): string {
  const power = bytes < 1_024 ? 0 : bytes < 1_048_576 ? 1 : 2
  const format = { style: 'unit', unit: SIZE_UNITS[power], maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, format).format(bytes / 1_024 ** power)
}

const SIZE_UNITS = ['byte', 'kilobyte', 'megabyte'] as const

function formatShort(language: Language, at: Date, now: Date): string {
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(at)
  if (at.toDateString() === now.toDateString()) return time
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year }).format(at)
  return `${day}, ${time}`
}
