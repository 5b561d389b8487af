import { createContext, useContext } from 'react'
import { de } from './text/de.ts'
import { en, type PortalText } from './text/en.ts'
import { es } from './text/es.ts'
import { fr } from './text/fr.ts'

export type PortalLanguage = 'en' | 'de' | 'fr' | 'es'

const TEXTS: Record<PortalLanguage, PortalText> = { en, de, fr, es }

export const portalTextOf = (language: PortalLanguage): PortalText => TEXTS[language]

const LanguageContext = createContext<PortalLanguage>('en')
export const LanguageProvider = LanguageContext.Provider

export const usePortalText = (): PortalText => TEXTS[useContext(LanguageContext)]

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

/** Sizes of files, such as 132.7 kB. */
export function useBytesFormat(): (bytes: number) => string {
  const language = useContext(LanguageContext)
  return (bytes) => formatSize(language, bytes)
}

function formatSize(language: PortalLanguage, bytes: number): string {
  const power = bytes < 1_024 ? 0 : bytes < 1_048_576 ? 1 : 2
  const format = { style: 'unit', unit: SIZE_UNITS[power], maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, format).format(bytes / 1_024 ** power)
}

const SIZE_UNITS = ['byte', 'kilobyte', 'megabyte'] as const

function formatShort(language: PortalLanguage, at: Date, now: Date): string {
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(at)
  if (at.toDateString() === now.toDateString()) return time
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year }).format(at)
  return `${day}, ${time}`
}
