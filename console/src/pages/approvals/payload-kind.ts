import { toText } from '../../api/json.ts'
import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { declaredMoney, guessedMoney, type Money, singleAmountField } from './amount.ts'

/** How a payload is shown. `rest` has every field that the form itself does not show, so that nothing is hidden. */
export type ShownPayload =
  | ({ kind: 'mail'; addresses: [string, string][]; subject: string; text: string | null; html: string | null } & Rest)
  | ({ kind: 'money'; field: string; money: Money } & Rest)
  | ({ kind: 'message'; to: string | null; text: string } & Rest)
  | ({ kind: 'fields' } & Rest)

interface Rest {
  rest: JsonObject
}

const ADDRESS_FIELDS = ['from', 'to', 'cc', 'bcc', 'reply_to']
const MESSAGE_FIELDS = ['text', 'reply', 'message', 'body']
const RECIPIENT_FIELDS = ['to', 'recipient', 'channel', 'phone']

/** Chooses by the fields of the payload: agents name their actions freely. */
export function shownPayload(payload: JsonObject, amount: ActionAmount | null): ShownPayload {
  return (
    mailPayload(payload) ??
    moneyPayload(payload, amount) ??
    messagePayload(payload) ?? { kind: 'fields', rest: payload }
  )
}

function mailPayload(payload: JsonObject): ShownPayload | null {
  const { subject } = payload
  const addresses = ADDRESS_FIELDS.flatMap((field): [string, string][] => {
    const text = addressText(payload[field])
    return text === null ? [] : [[field, text]]
  })
  if (typeof subject !== 'string' || !addresses.some(([field]) => field === 'to')) return null
  const textField = ['text', 'body'].find((field) => typeof payload[field] === 'string')
  const html = payload['html']
  const isHtml = typeof html === 'string'
  const shown = [
    'subject',
    ...addresses.map(([field]) => field),
    ...(textField ? [textField] : []),
    ...(isHtml ? ['html'] : []),
  ]
  const text = textField === undefined ? null : toText(payload[textField])
  return { kind: 'mail', addresses, subject, text, html: isHtml ? html : null, rest: without(payload, shown) }
}

function moneyPayload(payload: JsonObject, amount: ActionAmount | null): ShownPayload | null {
  const field = amount ? amount.path : singleAmountField(payload)
  const money = amount ? declaredMoney(amount, payload) : guessedMoney(payload)
  if (field === null || money === null) return null
  // The amount of a nested field stays in `rest` as well, because its other fields do.
  return { kind: 'money', field, money, rest: without(payload, [field]) }
}

function messagePayload(payload: JsonObject): ShownPayload | null {
  const field = MESSAGE_FIELDS.find((name) => typeof payload[name] === 'string' && payload[name] !== '')
  if (field === undefined) return null
  const recipient = RECIPIENT_FIELDS.find((name) => addressText(payload[name]) !== null)
  const to = recipient === undefined ? null : addressText(payload[recipient])
  return { kind: 'message', to, text: toText(payload[field]), rest: without(payload, [field, recipient ?? field]) }
}

/** One address or a list of them; null for any other value. */
function addressText(value: Json): string | null {
  const list = Array.isArray(value) ? value : [value]
  const texts = list.filter((one) => typeof one === 'string' && one !== '')
  return texts.length === list.length && texts.length > 0 ? texts.map(toText).join(', ') : null
}

const without = (payload: JsonObject, fields: string[]): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)))
