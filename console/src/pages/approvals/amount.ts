import { toObject } from '../../api/json.ts'
import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { formatMoney, moneyDigits } from '../../ui/format.ts'

/** The fields that the server's policy checks if the tool does not declare its amount. All are in dollars. */
const AMOUNT_FIELDS = ['amount_usd', 'amount', 'total', 'value']

export interface Money {
  value: number
  currency: string
}

/** The amount that the payload states where the tool declares it, as in `readAmount` of the server; null if it states none. */
export function declaredMoney(amount: ActionAmount, payload: JsonObject): Money | null {
  const stated = fieldAt(payload, amount.path)
  const currency = amount.currency_path === null ? amount.currency : fieldAt(payload, amount.currency_path)
  if (typeof stated !== 'number' || typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) return null
  const divisor = amount.unit === 'minor' ? 10 ** moneyDigits(currency) : 1
  return { value: stated / divisor, currency: currency.toUpperCase() }
}

/** The largest amount of a payload whose tool declares none; null if it states none, or one that is not a number. */
export function guessedMoney(payload: JsonObject): Money | null {
  const stated = AMOUNT_FIELDS.filter((name) => Object.hasOwn(payload, name)).map((name) => payload[name])
  const amounts = stated.filter((amount) => typeof amount === 'number')
  if (amounts.length === 0 || amounts.length < stated.length) return null
  const currency = typeof payload['currency'] === 'string' ? payload['currency'].toUpperCase() : 'USD'
  return { value: Math.max(...amounts), currency }
}

/** The only field of a payload that states an amount; null if several do. */
export function singleAmountField(payload: JsonObject): string | null {
  const [first = null, ...others] = AMOUNT_FIELDS.filter((name) => Object.hasOwn(payload, name))
  return others.length === 0 ? first : null
}

export const moneyText = ({ value, currency }: Money): string => formatMoney(value, currency)

/** The field that states the amount, as money: people read "$50.00" and not 5000. */
export function moneyFields(amount: ActionAmount | null | undefined, payload: JsonObject): Record<string, string> {
  const money = amount && declaredMoney(amount, payload)
  return money ? { [amount.path]: moneyText(money) } : {}
}

function fieldAt(payload: JsonObject, path: string): Json {
  let value: Json = payload
  for (const key of path.split('.')) value = Object.hasOwn(toObject(value), key) ? toObject(value)[key] : undefined
  return value
}
