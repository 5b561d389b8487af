import type { JsonObject } from '../../../platform/base/json.ts'
import { toSlackText } from '../../../customers/channels/adapters/slack-text.ts'
import { encodeReference } from '../approval-reference.ts'
import { type Card, cut, type Notice } from '../card.ts'
import {
  type ChatDecision,
  decisionButtons,
  factsOf,
  isQuestionCard,
  referenceOf,
  requestStatus,
  UNDO_TEXT,
} from '../card-text.ts'
import type { EditField } from '../edit-fields.ts'

/** The limits of Slack, in characters. A text that is cut gets two more. */
const MAX_HEADER = 148
const MAX_CONTEXT = 1900
const MAX_CONFIRMATION = 290
const MAX_INPUT = 3000
const MAX_OPTION = 73
/** A message has at most 50 blocks, and a request of a digest takes up to four. */
const MAX_CARDS = 12
/** Longer texts get a large input. */
const MAX_LINE = 80

/** A message: blocks, and the text that notifications and screen readers use. */
export function toSlackMessage(notice: Notice): { text: string; blocks: JsonObject[] } {
  const text = toSlackText(notice.title)
  if (notice.kind === 'card') return { text, blocks: cardBlocks(notice) }
  const shown = notice.cards.slice(0, MAX_CARDS)
  const more = notice.more + notice.cards.length - shown.length
  const blocks = [
    header(notice.title),
    ...shown.flatMap(digestBlocks),
    ...(more > 0 ? [contextLine([`${more} more in the console`])] : []),
  ]
  return { text, blocks }
}

function cardBlocks(card: Card): JsonObject[] {
  return [
    header(card.title),
    contextLine(factsOf(card)),
    ...(card.message ? [richText('rich_text_quote', card.message)] : []),
    ...(card.payload.length > 0 ? [payloadBlock(card)] : []),
    ...endBlocks(card),
  ]
}

const digestBlocks = (card: Card): JsonObject[] => [
  richText('rich_text_section', cut(card.title, MAX_HEADER), true),
  contextLine(factsOf(card)),
  ...endBlocks(card),
]

/** What has become of the request and, unless it is decided, the buttons. */
function endBlocks(card: Card): JsonObject[] {
  const status = requestStatus(card)
  const shown = status === null ? [] : [richText('rich_text_section', status, true)]
  if (card.outcome !== null) return shown
  const open = { type: 'button', action_id: 'open', text: plainText('Open in console'), url: card.consoleUrl }
  const buttons = decisionButtons(card).map(({ decision, text }) => button(card, decision, text))
  const undo = card.canUndo ? [button(card, 'undo', UNDO_TEXT)] : []
  return [...shown, { type: 'actions', elements: [...undo, ...buttons, open] }]
}

const BUTTON_STYLES: Partial<Record<ChatDecision | 'undo', string>> = { approve: 'primary', reject: 'danger' }

/** An approval of high risk is confirmed, so that one wrong click does not pay. */
function button(card: Card, decision: ChatDecision | 'undo', text: string): JsonObject {
  const style = BUTTON_STYLES[decision]
  return {
    type: 'button',
    action_id: decision,
    text: plainText(text),
    value: encodeReference(referenceOf(card)),
    ...(style && { style }),
    ...(decision === 'approve' && card.risk === 'high' && { confirm: confirmation(card) }),
  }
}

const confirmation = ({ title }: Card): JsonObject => ({
  title: plainText('Approve this request?'),
  text: plainText(cut(title, MAX_CONFIRMATION)),
  confirm: plainText('Approve'),
  deny: plainText('Cancel'),
})

/** The form in which a member changes fields before the request is approved; null if no field can be edited here. */
export function editForm(card: Card, fields: readonly EditField[]): JsonObject | null {
  const inputs = fields.flatMap((field, place) =>
    field.value.length <= MAX_INPUT ? [inputBlock(`field-${place}`, field)] : [],
  )
  if (inputs.length === 0) return null
  const tooLong = fields.filter(({ value }) => value.length > MAX_INPUT).map(({ name }) => name)
  const isAnswer = isQuestionCard(card)
  return form('edit', card, isAnswer ? ['Answer', 'Send answer'] : ['Edit and approve', 'Approve'], [
    ...inputs,
    ...(tooLong.length > 0 ? [contextLine([`Too long to edit here: ${tooLong.join(', ')}. Use the console.`])] : []),
  ])
}

/** The form that asks for the reason of a rejection, which is optional. */
export const rejectForm = (card: Card): JsonObject =>
  form('reject', card, ['Reject', 'Reject'], [inputBlock('reason', { ...EMPTY_TEXT, name: 'Reason (optional)' })])

/** The form that asks what the agent must change. */
export function reviseForm(card: Card): JsonObject {
  const input = inputBlock('reason', { ...EMPTY_TEXT, name: 'What must the agent change?' })
  return form('revise', card, ['Send back', 'Send back'], [{ ...input, optional: false }])
}

const EMPTY_TEXT: Omit<EditField, 'name'> = { kind: 'text', value: '', options: null }

const form = (name: string, card: Card, [title, submit]: [string, string], blocks: JsonObject[]): JsonObject => ({
  type: 'modal',
  callback_id: name,
  private_metadata: encodeReference(referenceOf(card)),
  title: plainText(title),
  submit: plainText(submit),
  close: plainText('Cancel'),
  blocks: [richText('rich_text_section', card.title), ...blocks],
})

/** An empty field is allowed, because a member may want to remove a text. */
function inputBlock(block_id: string, field: EditField): JsonObject {
  const label = plainText(cut(field.name, MAX_HEADER))
  return { type: 'input', block_id, optional: true, label, element: { action_id: 'value', ...inputElement(field) } }
}

function inputElement({ kind, value, options }: EditField): JsonObject {
  if (options) {
    const choices = options.map((text, n) => ({ text: plainText(cut(text, MAX_OPTION)), value: String(n) }))
    return { type: 'static_select', options: choices }
  }
  const initial = value === '' ? {} : { initial_value: value }
  if (kind === 'number') return { type: 'number_input', is_decimal_allowed: true, ...initial }
  const multiline = value === '' || value.length > MAX_LINE || value.includes('\n')
  return { type: 'plain_text_input', multiline, max_length: MAX_INPUT, ...initial }
}

const header = (text: string): JsonObject => ({ type: 'header', text: plainText(cut(text, MAX_HEADER)) })

const contextLine = (texts: string[]): JsonObject => ({
  type: 'context',
  elements: [plainText(cut(texts.join(' · '), MAX_CONTEXT))],
})

/** Shows a text exactly as it is, without Slack's markup. */
const richText = (type: string, text: string, bold = false): JsonObject => ({
  type: 'rich_text',
  elements: [{ type, elements: [{ type: 'text', text, ...(bold && { style: { bold } }) }] }],
})

function payloadBlock({ payload }: Card): JsonObject {
  const lines = payload.flatMap(({ name, value }) => [
    { type: 'text', text: `${name}: `, style: { bold: true } },
    { type: 'text', text: `${value}\n` },
  ])
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: lines }] }
}

const plainText = (text: string): JsonObject => ({ type: 'plain_text', text: toSlackText(text), emoji: false })
