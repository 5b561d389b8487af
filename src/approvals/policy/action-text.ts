import { z } from 'zod'
import { isJsonObject, type Json, ownField } from '../../platform/base/json.ts'
import type { ConnectionTool } from '../../connections/connection/tool.ts'
import { type AmountMapping, formatAmount, readAmount } from '../../platform/contract/amount.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import type { ActionTool } from './gated-request.ts'

/** The amount of an action in major units: dollars, not cents. */
export const ActionAmountView = z
  .object({
    value: z.number().nullable().meta({ description: 'In major units: 50 is $50.00. Null: `text` says why.' }),
    currency: z.string().nullable().meta({ description: 'ISO 4217, in upper case.' }),
    text: z.string().meta({ description: 'Such as "$50.00", or what is wrong with the amount.' }),
    path: z.string().meta({ description: 'The field of the payload that states the amount.' }),
    unit: z.enum(['major', 'minor']),
    currency_path: z.string().nullable(),
  })
  .meta({ id: 'ActionAmount' })

/** What people read about an action of a named tool: one line in words, and its amount of money. */
export interface ActionText {
  text: string | null
  amount: z.infer<typeof ActionAmountView> | null
}

export const toActionTool = (tool: ConnectionTool): ActionTool => ({ phrase: toolPhrase(tool), amount: tool.amount })

export const parseTool = ({ tool }: Pick<ApprovalRow, 'tool'>): ActionTool | null => tool && JSON.parse(tool)

/** An edit at the gate changes the payload, so the text and the amount are made from the payload each time. */
export function describeAction(
  tool: ActionTool | null,
  { connection }: Pick<ApprovalRow, 'connection'>,
  payload: Json,
): ActionText {
  if (!tool) return { text: null, amount: null }
  const amount = tool.amount && toAmountView(tool.amount, payload)
  const price = amount && amount.value !== null ? ` of ${amount.text}` : ''
  const to = price === '' ? recipientsOf(payload) : ''
  return { text: `${connection === null ? '' : `${connection}: `}${tool.phrase}${price}${to}`, amount }
}

const MAX_RECIPIENT_CHARACTERS = 100

/** Whom a message goes to, if the payload has a field `to`. */
function recipientsOf(payload: Json): string {
  const to = isJsonObject(payload) ? ownField(payload, 'to') : undefined
  const [first, ...others] = [to ?? []].flat()
  if (typeof first !== 'string' || first.trim() === '') return ''
  const shown = first
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_RECIPIENT_CHARACTERS)
  return ` to ${shown}${others.length > 0 ? ` and ${others.length} more` : ''}`
}

function toAmountView(mapping: AmountMapping, payload: Json): z.infer<typeof ActionAmountView> {
  const { path, unit, currency_path = null } = mapping
  const amount = readAmount(mapping, payload)
  const place = { path, unit, currency_path }
  const currency = currency_path === null ? (mapping.currency?.toUpperCase() ?? null) : null
  return 'problem' in amount
    ? { value: null, currency, text: amount.problem, ...place }
    : { ...amount, text: formatAmount(amount), ...place }
}

export const nameToWords = (name: string): string => name.replaceAll(/[_-]+/g, ' ')

const MAX_PHRASE_CHARACTERS = 100

/** The first clause of the description, or the name. A vendor may have written it, so it is cut and cleaned. */
function toolPhrase({ name, description }: ConnectionTool): string {
  const [clause = ''] = description
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .split(/[.,:;!?](?: |$)| \(/u)
  // An operation without a description is described by its method and path, such as "POST /refunds".
  const phrase = clause === '' || /^[A-Z]+ \//.test(clause) ? nameToWords(name) : clause
  const isAcronym = /^\p{Lu}{2}/u.test(phrase)
  const short = phrase.length > MAX_PHRASE_CHARACTERS ? `${phrase.slice(0, MAX_PHRASE_CHARACTERS - 1)}…` : phrase
  return isAcronym ? short : short.charAt(0).toLowerCase() + short.slice(1)
}
