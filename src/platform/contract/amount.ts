import { isJsonObject, type Json, ownField } from '../base/json.ts'

/** Where a payload states an amount of money. `path` may be dotted, such as `line.amount`. `minor`: cents, not dollars. */
export interface AmountMapping {
  path: string
  unit: 'major' | 'minor'
  /** The currency of every amount. */
  currency?: string | undefined
  /** The field that holds the currency; with it, `currency` is not used. */
  currency_path?: string | undefined
}

/** An amount of money in major units: dollars, not cents. `currency` is an ISO 4217 code in upper case. */
export interface Amount {
  value: number
  currency: string
}

/**
 * The amount that the payload states where the mapping says, or what is wrong with it. A text such as "10" is not an
 * amount, because receivers read texts in different ways.
 */
export function readAmount(mapping: AmountMapping, payload: Json): Amount | { problem: string } {
  const { path, unit, currency_path } = mapping
  const stated = fieldAt(payload, path)
  if (stated === undefined) return { problem: `'${path}' is missing` }
  if (typeof stated !== 'number' || !Number.isFinite(stated)) return { problem: `'${path}' is not a number` }
  if (stated < 0) return { problem: `'${path}' is negative` }
  const currency = toCurrencyCode(currency_path === undefined ? mapping.currency : fieldAt(payload, currency_path))
  if (currency === null) return { problem: `'${currency_path ?? 'currency'}' is not a currency code` }
  if (unit === 'major') return { value: stated, currency }
  if (!Number.isSafeInteger(stated)) return { problem: `'${path}' is not a whole number of minor units` }
  // Both numbers are exact, so the quotient is the same number as the literal: 1999 / 100 === 19.99.
  return { value: stated / 10 ** fractionDigits(currency), currency }
}

/** The amount as people write it, such as "$50.00", "¥500" or in German "50,00 $". No digit is hidden by rounding. */
export const formatAmount = ({ value, currency }: Amount, language = 'en-US'): string =>
  numberFormat(value, currency, 'currency', language)

/** The amount with the code of its currency, such as "50.00 EUR". */
export const formatAmountWithCode = ({ value, currency }: Amount): string =>
  `${numberFormat(value, currency, 'decimal', 'en-US')} ${currency}`

/** `$50`, `$84.50`, or all digits where rounding to cents would hide the difference to the limit. */
export function formatDollars(amount: number): string {
  const cents = amount.toFixed(2)
  return `$${Number.isInteger(amount) || Number(cents) !== amount ? String(amount) : cents}`
}

const MAX_FRACTION_DIGITS = 20

function numberFormat(value: number, currency: string, style: 'currency' | 'decimal', language: string): string {
  const digits = { minimumFractionDigits: fractionDigits(currency), maximumFractionDigits: MAX_FRACTION_DIGITS }
  // The full symbol: "CA$50.00" instead of "$50.00" for Canadian dollars.
  const money = { style: 'currency', currency, currencyDisplay: 'symbol' } as const
  return new Intl.NumberFormat(language, { ...(style === 'currency' && money), ...digits }).format(value)
}

/** Two for dollars, none for yen, three for Kuwaiti dinars. */
const fractionDigits = (currency: string): number =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2

const toCurrencyCode = (stated: Json | undefined): string | null =>
  typeof stated === 'string' && /^[a-zA-Z]{3}$/.test(stated) ? stated.toUpperCase() : null

function fieldAt(payload: Json, path: string): Json | undefined {
  let value: Json | undefined = payload
  for (const key of path.split('.')) value = isJsonObject(value) ? ownField(value, key) : undefined
  return value
}
