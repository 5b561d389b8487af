import { escapeHtml } from '../../../platform/base/text.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { type Card, cut, type Digest, type Notice } from '../card.ts'
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
import { encodeButton, encodePrompt, type TelegramButton, type TelegramPrompt } from './telegram-interaction.ts'

/** A message has at most 4096 characters. Title, facts and outcome need the rest. */
const MAX_PAYLOAD = 1500
const MAX_TITLE = 300
/** With its number and the ends of cut texts, a request of a digest has at most 210 characters. */
const MAX_CARDS = 18
const MAX_DIGEST_TITLE = 100
const MAX_BUTTON = 60

/** The fields of `sendMessage` and `editMessageText` for a message about requests. */
export function toTelegramMessage(notice: Notice): JsonObject {
  return notice.kind === 'card' ? cardMessage(notice) : digestMessage(notice)
}

function cardMessage(card: Card): JsonObject {
  const lines = [
    `<b>${escapeHtml(cut(card.title, MAX_TITLE))}</b>`,
    escapeHtml(cut(factsOf(card).join(' · '), MAX_TITLE)),
    ...(card.message ? [`<blockquote>${escapeHtml(card.message)}</blockquote>`] : []),
    ...payloadLines(card),
    `<a href="${escapeHtml(card.consoleUrl)}">Open in console</a>`,
    ...statusLines(requestStatus(card)),
  ]
  return message(lines, keyboardOf(cardButtons(card)))
}

const statusLines = (status: string | null): string[] =>
  status === null ? [] : [`<b>${escapeHtml(cut(status, MAX_TITLE))}</b>`]

/** As many fields as fit. A value that is cut ends with "…". */
function payloadLines({ payload }: Card): string[] {
  let rest = MAX_PAYLOAD
  return payload.flatMap(({ name, value }) => {
    if (rest <= 0) return []
    const shown = cut(value, rest)
    rest -= name.length + shown.length
    return [`<b>${escapeHtml(cut(name, MAX_BUTTON))}:</b> ${escapeHtml(shown)}`]
  })
}

/** Each request has a number and a row of buttons with this number. */
function digestMessage({ title, cards, more: unread }: Digest): JsonObject {
  const shown = cards.slice(0, MAX_CARDS)
  const more = unread + cards.length - shown.length
  const lines = shown.map((card, n) => {
    const facts = card.outcome ?? [requestStatus(card) ?? [], factsOf({ ...card, rule: null })].flat().join(' · ')
    return `${n + 1}. <b>${escapeHtml(cut(card.title, MAX_DIGEST_TITLE))}</b>\n${escapeHtml(cut(facts, MAX_DIGEST_TITLE))}`
  })
  const keyboard = shown.flatMap((card, n) => keyboardOf(cardButtons(card, `${n + 1}. `)))
  const end = more > 0 ? [`${more} more in the console`] : []
  return message([`<b>${escapeHtml(title)}</b>`, ...lines, ...end], keyboard)
}

/** A request that is decided, or held by another person, has no buttons. */
const keyboardOf = (buttons: JsonObject[]): JsonObject[][] => (buttons.length === 0 ? [] : [buttons])

/** A rejection ends the task and an approval of high risk may pay, so both are confirmed. */
function cardButtons(card: Card, number = ''): JsonObject[] {
  const approve = card.risk === 'high' ? 'askApprove' : 'approve'
  const names: Record<ChatDecision, TelegramButton> = { approve, edit: 'edit', revise: 'note', reject: 'askReject' }
  if (card.outcome !== null) return []
  if (card.canUndo) return [button(number + UNDO_TEXT, 'undo', card)]
  return decisionButtons(card).map(({ decision, text }) => button(number + text, names[decision], card))
}

/** Asks whether a request is to be approved or rejected. */
export function confirmMessage(card: Card, decision: 'approve' | 'reject'): JsonObject {
  const cancel = button('Cancel', 'cancel', card)
  if (decision === 'approve') {
    return message([question('Approve this request?', card)], [[button('Approve', 'confirm', card), cancel]])
  }
  const reject = [button('Reject', 'reject', card), button('Reject with a reason', 'reason', card)]
  return message([question('Reject this request?', card)], [reject, [cancel]])
}

/** Asks which field to edit or, if there is only one, for its value. */
export function editMessage(card: Card, fields: readonly EditField[]): JsonObject {
  const [first, ...others] = fields
  if (first && others.length === 0) return fieldMessage(card, fields, 0)
  const names = fields.map(({ name }, place) => [button(name, 'field', card, place)])
  return message([question('Which field do you want to edit?', card)], [...names, [button('Cancel', 'cancel', card)]])
}

/** Asks for the value of a field: one of its options, or a reply to this message. */
export function fieldMessage(card: Card, fields: readonly EditField[], place: number): JsonObject {
  const field = fields[place]
  if (!field) return message([question('The request has no such field any more.', card)], [])
  if (field.options) {
    const options = field.options.map((option, n) => [button(option, 'option', card, n)])
    return message([question('Choose the answer:', card)], [...options, [button('Cancel', 'cancel', card)]])
  }
  const ask = isQuestionCard(card)
    ? 'Reply to this message with the answer.'
    : `Reply to this message with the new value of ${cut(field.name, MAX_BUTTON)}. Your reply approves the request with this change.`
  const now = field.value === '' ? [] : [`<pre>${escapeHtml(cut(field.value, MAX_PAYLOAD))}</pre>`]
  return promptMessage([question(ask, card), ...now], { asks: 'value', reference: referenceOf(card), place })
}

/** Asks for the reason of a rejection, or for a note to the agent, as a reply to this message. */
export function textPrompt(card: Card, asks: 'reason' | 'note'): JsonObject {
  const ask =
    asks === 'reason'
      ? 'Reply to this message with the reason. Your reply rejects the request.'
      : 'Reply to this message with what the agent must change. Your reply sends the request back.'
  return promptMessage([question(ask, card)], { asks, reference: referenceOf(card), place: 0 })
}

const promptMessage = (lines: string[], prompt: TelegramPrompt): JsonObject => ({
  ...message([...lines, encodePrompt(prompt)], []),
  reply_markup: { force_reply: true },
})

const question = (text: string, { title }: Card): string =>
  `${escapeHtml(text)}\n<i>${escapeHtml(cut(title, MAX_TITLE))}</i>`

const button = (text: string, name: TelegramButton, card: Card, place = 0): JsonObject => ({
  text: cut(text, MAX_BUTTON),
  callback_data: encodeButton(name, referenceOf(card), place),
})

const message = (lines: string[], keyboard: JsonObject[][]): JsonObject => ({
  text: lines.join('\n'),
  parse_mode: 'HTML',
  link_preview_options: { is_disabled: true },
  ...(keyboard.length > 0 && { reply_markup: { inline_keyboard: keyboard } }),
})
