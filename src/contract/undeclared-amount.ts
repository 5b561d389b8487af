import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { oneLine } from '../base/one-line.ts'
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
  const implied = impliedAmount(payload, '')
  if (implied.value <= dollars + HALF_A_CENT) return null
  return `${fieldName(implied.path)} in the payload may state more than its amount of ${formatDollars(dollars)}`
}

const MAX_CURRENCY_CHARACTERS = 30

/** Whether a payload without a declared amount is about money at all, even if its amount cannot be compared with a limit. */
export const mentionsMoney = (payload: Json): boolean =>
  hasTooManyFields(payload) ||
  (isJsonObject(payload) && Object.keys(payload).some((key) => AMOUNT_KEYS.includes(plainKey(key)))) ||
  impliedAmount(payload, '').value > 0

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

/** The key with its words apart, in lower case: `unitPrice` becomes `unit_price`. */
const toWords = (key: string): string =>
  IS_PLAIN.test(key)
    ? key
    : key
        .normalize('NFKC')
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
        .toLowerCase()

const CURRENCY = /currenc(?:y|ies)|(?<![a-z])ccy(?![a-z])/
const MONEY = /(?:(?<![a-z])(?:amt|value|fee|cent|dollar|usd)|amount|total|price|cost)s?(?![a-z])|(?<![a-z])amount/
const CENTS = /(?<![a-z])cents?(?![a-z])/
const UNIT_PRICE = /(?<![a-z])unit(?![a-z])|prices?(?![a-z])/
const TOTAL = /total(?![a-z])/
const QUANTITY = /(?<![a-z])(?:quantity|quantities|qty)(?![a-z])/

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
    const isOther = !Array.isArray(value) && CURRENCY.test(toWords(key)) && !isDollars(inner)
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

/** The most money that a value may mean. The numbers of a list are added, and a price counts as often as its quantity says. */
function impliedAmount(value: Json, key: string): Found<number> {
  if (Array.isArray(value)) return sumOfList(value, key)
  if (!isJsonObject(value)) return { path: [], value: toDollars(key, value) }
  let most: Found<number> = { path: [], value: 0 }
  let quantity: number | null = null
  for (const [name, inner] of Object.entries(value)) {
    let implied = impliedAmount(inner, name)
    if (implied.value > 0 && isUnitPrice(name)) {
      quantity ??= quantityOf(value)
      implied = { ...implied, value: implied.value * quantity }
    }
    if (implied.value > most.value) most = below(name, implied)
  }
  return most
}

const sumOfList = (list: Json[], key: string): Found<number> => ({
  path: [],
  value: list.reduce<number>((sum, item) => sum + impliedAmount(item, key).value, 0),
})

const isUnitPrice = (key: string): boolean => UNIT_PRICE.test(toWords(key)) && !TOTAL.test(toWords(key))

const quantityOf = (item: JsonObject): number =>
  Object.entries(item)
    .filter(([key]) => QUANTITY.test(toWords(key)))
    .reduce((most, [, quantity]) => Math.max(most, toNumber(quantity)), 1)

function toDollars(key: string, value: Json): number {
  const number = toNumber(value)
  if (number === 0 || !MONEY.test(toWords(key))) return 0
  return CENTS.test(toWords(key)) ? number / 100 : number
}

/** A text counts if it has digits and no word but a currency, because some receivers read it as a number. */
function toNumber(value: Json): number {
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value !== 'string' || !/\d/.test(value)) return 0
  const number = Number(value)
  if (!Number.isNaN(number)) return Math.abs(number)
  // Two steps, because one expression for both ends takes cubic time on a long text of spaces.
  const withoutCurrency = value
    .trim()
    .replace(/^[a-z]{3}\b/iu, '')
    .replace(/\b[a-z]{3}$/iu, '')
  return /\p{L}/u.test(withoutCurrency) ? 0 : Number.POSITIVE_INFINITY
}

const MAX_NAME_CHARACTERS = 100

const fieldName = (path: string[]): string => `'${oneLine(path.join('.')).slice(0, MAX_NAME_CHARACTERS)}'`
