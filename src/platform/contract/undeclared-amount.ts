import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { oneLine } from '../base/text.ts'
import { formatDollars } from './amount.ts'

/** The amount of a payload in dollars, or why no limit can be compared with it. */
export type StatedDollars = { dollars: number } | { problem: string }

/** The fields of a payload that state its amount, if its tool does not declare where the amount is. */
export const AMOUNT_KEYS = ['amount_usd', 'amount', 'total', 'value']

/**
 * The largest amount at the top level of a payload whose tool declares no amount. Every stated amount must be within a
 * limit, because the receiver may use any of them. A payload that contradicts its top level is a problem: a currency other
 * than USD anywhere, or more money in another field.
 */
export function readUndeclaredDollars(payload: Json): StatedDollars {
  if (hasTooManyFields(payload)) return { problem: 'the payload has too many fields to judge' }
  const misspelt = isJsonObject(payload) ? Object.keys(payload).find(isMisspeltAmountKey) : undefined
  if (misspelt !== undefined) return { problem: `'${misspelt}' in the payload may be read as '${plainKey(misspelt)}'` }
  const keys = AMOUNT_KEYS.filter((key) => isJsonObject(payload) && Object.hasOwn(payload, key))
  if (!isJsonObject(payload) || keys.length === 0) return { problem: 'the payload states no amount' }
  let dollars = 0
  for (const key of keys) {
    const amount = payload[key]
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
      return { problem: `'${key}' in the payload is not an amount in dollars` }
    }
    dollars = Math.max(dollars, amount)
  }
  const problem = findContradiction(payload, dollars)
  return problem === null ? { dollars } : { problem }
}

function findContradiction(payload: JsonObject, dollars: number): string | null {
  const currency = findOtherCurrency(payload)
  if (currency) {
    const stated = oneLine(JSON.stringify(currency.value)).slice(0, MAX_CURRENCY_CHARACTERS)
    return `${fieldName(currency.path)} in the payload is ${stated}; limits are in USD`
  }
  const implied = impliedAmount(payload)
  if (implied.value <= dollars + HALF_A_CENT) return null
  return `${fieldName(implied.path)} in the payload may state more than its amount of ${formatDollars(dollars)}`
}

const MAX_CURRENCY_CHARACTERS = 30

/** Whether a payload without a declared amount is about money at all, even if its amount cannot be compared with a limit. */
export const mentionsMoney = (payload: Json): boolean =>
  hasTooManyFields(payload) ||
  (isJsonObject(payload) && Object.keys(payload).some((key) => AMOUNT_KEYS.includes(plainKey(key)))) ||
  impliedAmount(payload).value > 0

/** To judge a payload of 1 MB in small fields would hold up all other requests, so a person decides on it. */
const MAX_FIELDS = 5_000
const MAX_NAMES_CHARACTERS = 100_000

function hasTooManyFields(payload: Json): boolean {
  let fields = 0
  let characters = 0
  const isTooMuch = (value: Json): boolean => {
    if (typeof value !== 'object' || value === null) return false
    const names = Array.isArray(value) ? [] : Object.keys(value)
    fields += Array.isArray(value) ? value.length : names.length
    if (fields > MAX_FIELDS) return true
    for (const name of names) characters += name.length
    return characters > MAX_NAMES_CHARACTERS || Object.values(value).some(isTooMuch)
  }
  return isTooMuch(payload)
}

/** Some receivers ignore case and spaces, and Go's JSON also takes `ſ` for `s`. */
const plainKey = (key: string): string => (IS_PLAIN.test(key) ? key : key.normalize('NFKC').trim().toLowerCase())
const IS_PLAIN = /^[a-z0-9_]*$/

const isMisspeltAmountKey = (key: string): boolean => !AMOUNT_KEYS.includes(key) && AMOUNT_KEYS.includes(plainKey(key))

/** The words of a key in lower case: `unitPrice` has `unit` and `price`. */
const wordsOf = (key: string): string[] =>
  key
    .normalize('NFKC')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)

const CURRENCY_WORD = /currenc(?:y|ies)$|^(?:ccy|cur)$/
const MONEY_WORD = /^(?:amt|value|fee|cent|dollar|usd|sum|payment)s?$|(?:amount|total|price|cost)s?$|^amount/
/** The last word of a key that describes money and is none, such as `price_id`, `total_pages` and `payment_intent`. */
const OTHER_NOUN =
  /^(?:accounts?|at|cent(?:er|re)|code|comment|count|date|days?|description|display|due|hours|ids?|intent|items|key|label|list|method|name|note|number|pages?|plan|ref|reference|rows|status|terms?|text|type|url)$/
const CENTS_WORD = /^cents?$/
const UNIT_PRICE_WORD = /^unit$|prices?$/
const TOTAL_WORD = /totals?$/
const QUANTITY_WORD = /^(?:quantity|quantities|qty)$/
const OTHER_CURRENCIES = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()))
OTHER_CURRENCIES.delete('usd')

const hasWord = (words: readonly string[], pattern: RegExp): boolean => words.some((word) => pattern.test(word))

/** Whether a key names money; below a key that does, every other key does too, such as `amounts.refund`. */
function isMoney(words: readonly string[], isBelowMoney = false): boolean {
  return (isBelowMoney || hasWord(words, MONEY_WORD)) && !OTHER_NOUN.test(words.findLast((word) => word !== '') ?? '')
}

/** The value of a field for its currency, or a name for an amount in another currency, such as `amount_eur`. */
function namesOtherCurrency(key: string, value: Json): boolean {
  const words = wordsOf(key)
  if (hasWord(words, CURRENCY_WORD)) return !isDollars(value)
  return value !== null && isMoney(words) && words.some((word) => OTHER_CURRENCIES.has(word))
}

/** A field of the payload, named from the top level. */
interface Found<T> {
  path: string[]
  value: T
}

const below = <T>(key: string, { path, value }: Found<T>): Found<T> => ({ path: [key, ...path], value })

/** The first field that names a currency other than USD, at any depth. */
function findOtherCurrency(value: Json): Found<Json> | null {
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const isOther = !Array.isArray(value) && namesOtherCurrency(key, inner)
    const found = isOther ? { path: [], value: inner } : findOtherCurrency(inner)
    if (found) return Array.isArray(value) ? found : below(key, found)
  }
  return null
}

const isDollars = (currency: Json): boolean =>
  currency === null ||
  (Array.isArray(currency) ? currency.every(isDollars) : typeof currency === 'string' && /^\s*usd\s*$/i.test(currency))

/** Sums and products of decimal fractions are not exact. */
const HALF_A_CENT = 0.005

/**
 * The most money that the fields of a value may mean. The numbers of a list are added, and a price counts as often as its
 * quantity says.
 */
function impliedAmount(value: Json, isBelowMoney = false): Found<number> {
  if (Array.isArray(value)) return sumOfList(value, isBelowMoney)
  if (!isJsonObject(value)) return { path: [], value: isBelowMoney ? toNumber(value) : 0 }
  let most: Found<number> = { path: [], value: 0 }
  let quantity: number | null = null
  for (const [name, inner] of Object.entries(value)) {
    const words = wordsOf(name)
    const implied = impliedAmount(inner, isMoney(words, isBelowMoney))
    if (hasWord(words, CENTS_WORD) && typeof inner !== 'object') implied.value /= 100
    if (implied.value > 0 && isUnitPrice(words)) {
      quantity ??= quantityOf(value)
      implied.value *= quantity
    }
    if (implied.value > most.value) most = below(name, implied)
  }
  return most
}

const sumOfList = (list: Json[], isBelowMoney: boolean): Found<number> => ({
  path: [],
  value: list.reduce<number>((sum, item) => sum + impliedAmount(item, isBelowMoney).value, 0),
})

const isUnitPrice = (words: readonly string[]): boolean =>
  hasWord(words, UNIT_PRICE_WORD) && !hasWord(words, TOTAL_WORD)

const quantityOf = (item: JsonObject): number =>
  Object.entries(item)
    .filter(([key]) => hasWord(wordsOf(key), QUANTITY_WORD))
    .reduce((most, [, quantity]) => Math.max(most, toNumber(quantity)), 1)

/** A text is a number if it is one for some receiver, or if its words are only those of money, such as "$1,000" and "5k". */
function toNumber(value: Json): number {
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value !== 'string') return 0
  const text = value.normalize('NFKC').trim()
  if (!/\p{Nd}/u.test(text)) return 0
  const number = Number(text)
  if (!Number.isNaN(number)) return Math.abs(number)
  return NOT_OF_NUMBER.test(text) || !wordsOf(text).every(isMoneyText) ? 0 : Number.POSITIVE_INFINITY
}

/** A character that no number has, such as the `:` of a time or the `-` within a date. */
const NOT_OF_NUMBER = /(?!^)-|[^\p{Nd}\p{Sc}\p{L}\s.,'’_+()-]/u

const MONEY_TEXT = /^(?:|us|usd|dollars?|euros?|pounds?|yen|francs?|k|m|mn|mio|bn|thousand|millions?|billions?)$/

const isMoneyText = (word: string): boolean => MONEY_TEXT.test(word) || OTHER_CURRENCIES.has(word)

const MAX_NAME_CHARACTERS = 100

const fieldName = (path: string[]): string => `'${oneLine(path.join('.')).slice(0, MAX_NAME_CHARACTERS)}'`
