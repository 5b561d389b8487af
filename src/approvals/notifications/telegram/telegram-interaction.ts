import type { JsonObject } from '../../../platform/base/json.ts'
import { objectField, textField } from '../../../platform/base/json-fields.ts'
import { telegramId } from '../../../customers/channels/adapters/telegram-api.ts'
import { type ApprovalReference, encodeReference, parseReference } from '../approval-reference.ts'

/** What a button does. Its code is one letter, because a button carries at most 64 bytes. */
const BUTTONS = [
  // Buttons of a request.
  { name: 'approve', code: 'a' },
  { name: 'askApprove', code: 'x' },
  { name: 'edit', code: 'e' },
  { name: 'note', code: 'v' },
  { name: 'askReject', code: 'y' },
  { name: 'undo', code: 'u' },
  // Buttons of a prompt, which is removed after the decision.
  { name: 'confirm', code: 'c' },
  { name: 'reject', code: 'r' },
  { name: 'reason', code: 'w' },
  { name: 'field', code: 'f' },
  { name: 'option', code: 'o' },
  { name: 'cancel', code: 'n' },
] as const

export type TelegramButton = (typeof BUTTONS)[number]['name']

/** What a person did in the chat with the bot. */
export type TelegramInteraction =
  | { type: 'text'; chat: string; text: string }
  | TelegramClick
  | { type: 'reply'; chat: string; to: TelegramPrompt; text: string }

export interface TelegramClick {
  type: 'click'
  chat: string
  queryId: string
  /** The number of the message that has the button. */
  message: string
  button: TelegramButton
  reference: ApprovalReference
  /** The number of the field or of the option. */
  place: number
}

/** A message of the bot that asks for a value of a field, the reason of a rejection, or a note for the agent. */
export interface TelegramPrompt {
  asks: 'value' | 'reason' | 'note'
  reference: ApprovalReference
  /** The number of the field. */
  place: number
}

export const encodeButton = (button: TelegramButton, reference: ApprovalReference, place = 0): string =>
  `${BUTTONS.find(({ name }) => name === button)?.code}:${encodeReference(reference)}:${place}`

/** The last line of a prompt. A reply comes with the text of its prompt, so that nothing needs to be stored. */
export const encodePrompt = ({ asks, reference, place }: TelegramPrompt): string =>
  `Reference: ${asks} ${encodeReference(reference)} ${place}`

/** What a verified update means. Only private chats count: in a group, others would read the code and the requests. */
export function toTelegramInteraction(update: JsonObject): TelegramInteraction | null {
  const query = objectField(update, 'callback_query')
  if (textField(query, 'id')) return parseTelegramClick(query)
  const message = objectField(update, 'message')
  const text = textField(message, 'text')
  const chat = privateChat(message)
  if (!chat || !text || objectField(message, 'from').is_bot === true) return null
  const to = parsePrompt(objectField(message, 'reply_to_message'))
  return to ? { type: 'reply', chat, to, text } : { type: 'text', chat, text }
}

function privateChat(message: JsonObject): string {
  const chat = objectField(message, 'chat')
  return chat.type === 'private' ? telegramId(chat.id) : ''
}

function parseTelegramClick(query: JsonObject): TelegramInteraction | null {
  const message = objectField(query, 'message')
  const chat = privateChat(message)
  const [, code, text = '', place] = /^(\w):(\w+:\w+):(\d{1,3})$/.exec(textField(query, 'data')) ?? []
  const button = BUTTONS.find((one) => one.code === code)
  const reference = parseReference(text)
  if (!chat || !button || !reference) return null
  return {
    type: 'click',
    chat,
    queryId: textField(query, 'id'),
    message: telegramId(message.message_id),
    button: button.name,
    reference,
    place: Number(place),
  }
}

const PROMPT_LINE = /^Reference: (value|reason|note) (\S+) (\d{1,3})$/

/** The last line only: the lines before it may show a payload, which an agent wrote. */
function parsePrompt(message: JsonObject): TelegramPrompt | null {
  if (objectField(message, 'from').is_bot !== true) return null
  const [, asks, text = '', place] = PROMPT_LINE.exec(textField(message, 'text').split('\n').at(-1) ?? '') ?? []
  const reference = parseReference(text)
  if (!reference || (asks !== 'value' && asks !== 'reason' && asks !== 'note')) return null
  return { asks, reference, place: Number(place) }
}
