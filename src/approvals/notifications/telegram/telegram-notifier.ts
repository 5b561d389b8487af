import type { JsonObject } from '../../../platform/base/json.ts'
import { objectField, textField } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import {
  callTelegram,
  telegramBody,
  telegramError,
  telegramMessageId,
  verifyTelegramHead,
} from '../../../customers/channels/adapters/telegram-api.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { openSecret } from '../../../identity/vault/secrets.ts'
import { type Card, cut } from '../card.ts'
import type { EditField } from '../edit-fields.ts'
import {
  NoticeDelayed,
  NoticeRefused,
  type Notifier,
  type NotifierCall,
  type NotifierEvent,
  type Respond,
} from '../notifier.ts'
import { confirmMessage, editMessage, fieldMessage, textPrompt, toTelegramMessage } from './telegram-card.ts'
import { toTelegramInteraction, type TelegramClick, type TelegramInteraction } from './telegram-interaction.ts'

/** Tells members in their chat with a Telegram bot. The connection's secret is the token of the bot. */
export const telegramNotifier: Notifier = {
  kind: 'telegram',
  secret: 'the secret_token that was given to setWebhook',
  decidesOnPage: false,
  checkConnection({ kind }) {
    if (kind !== 'custom') throw badRequest("field 'connection' must name a connection of the kind 'custom'")
  },
  async post(ctx, { connection, address }, notice) {
    const sent = await callBot(ctx, connection, 'sendMessage', {
      chat_id: Number(address),
      ...toTelegramMessage(notice),
    })
    return { externalId: telegramMessageId(sent) }
  },
  async rewrite(ctx, { connection }, externalId, notice) {
    const [chat_id = 0, message_id = 0] = externalId.split(':').map(Number)
    await callBot(ctx, connection, 'editMessageText', { chat_id, message_id, ...toTelegramMessage(notice) })
  },
  async linkUrl(ctx, connection, code) {
    const username = textField(await callBot(ctx, connection, 'getMe', {}), 'username')
    return username ? `https://t.me/${encodeURIComponent(username)}?start=${encodeURIComponent(code)}` : null
  },
  hook: {
    verifyHead: (_ctx, head) => verifyTelegramHead(head),
    async parse(ctx, call) {
      const interaction = toTelegramInteraction(await call.read('jsonObject', null))
      return { events: interaction ? toEvents(ctx, call, interaction) : [] }
    },
  },
}

/** What Telegram answers to a rewrite that changes nothing, such as a second attempt. */
const NOT_MODIFIED = /message is not modified/i
/** After these errors another attempt is refused as well. */
const FINAL_ERRORS = /chat not found|message to edit not found|message can't be edited|user is deactivated/i

async function callBot(ctx: Ctx, connection: Connection, method: string, args: JsonObject): Promise<JsonObject> {
  const bot = { connection, token: (await openSecret(ctx, connection)) ?? '' }
  const response = await callTelegram(ctx, bot, method, args)
  const error = telegramError(response) ?? ''
  if (response.ok || NOT_MODIFIED.test(error)) return objectField(telegramBody(response), 'result')
  if (response.status === 429) throw new NoticeDelayed(error, waitOf(telegramBody(response)))
  // 403: the member blocked the bot, or never started it.
  const isFinal = response.status === 403 || FINAL_ERRORS.test(error)
  throw isFinal ? new NoticeRefused(error) : new Error(error)
}

const MAX_WAIT_S = 600

/** How long Telegram wants to get no calls. */
function waitOf(body: JsonObject): number {
  const { retry_after } = objectField(body, 'parameters')
  return Math.min(typeof retry_after === 'number' && retry_after > 0 ? retry_after : 30, MAX_WAIT_S) * 1000
}

function toEvents(ctx: Ctx, call: NotifierCall, interaction: TelegramInteraction): NotifierEvent[] {
  if (interaction.type === 'click') return [clickEvent(ctx, call.connection, interaction)]
  const { chat: address, text } = interaction
  const respond: Respond = async (_kind, answer) => {
    await callBot(ctx, call.connection, 'sendMessage', { chat_id: Number(address), text: answer })
  }
  // The link that opens the chat sends "/start" with the code.
  if (interaction.type === 'text')
    return [{ type: 'link', code: text.replace(/^\/start\b/, '').trim(), address, respond }]
  const { asks, reference, place } = interaction.to
  const event = { type: 'decide' as const, address, reference, respond }
  if (asks === 'value') return [{ ...event, decision: 'approve', inputs: [{ field: place, value: text }] }]
  return [{ ...event, decision: asks === 'note' ? 'revise' : 'reject', inputs: [], reason: text.trim() }]
}

const MAX_ALERT_CHARACTERS = 195

function clickEvent(ctx: Ctx, connection: Connection, click: TelegramClick): NotifierEvent {
  const { button, place, reference, chat: address, queryId: callback_query_id } = click
  const isOfPrompt = ['confirm', 'reject', 'option'].includes(button)
  const respond: Respond = async (kind, text) => {
    const alert = { text: cut(text, MAX_ALERT_CHARACTERS), show_alert: kind !== 'done' }
    await callBot(ctx, connection, 'answerCallbackQuery', { callback_query_id, ...alert })
    if (isOfPrompt && kind !== 'refused') await deletePrompt(ctx, connection, click)
  }
  const event = { address, reference, respond }
  if (button === 'undo') return { type: 'undo', ...event }
  if (button === 'approve' || button === 'confirm') return { type: 'decide', ...event, decision: 'approve', inputs: [] }
  if (button === 'reject') return { type: 'decide', ...event, decision: 'reject', inputs: [] }
  if (button === 'option')
    return { type: 'decide', ...event, decision: 'approve', inputs: [{ field: 0, value: String(place) }] }
  const show = async (card: Card, fields: EditField[]) => {
    if (button === 'cancel') await deletePrompt(ctx, connection, click)
    else await callBot(ctx, connection, 'sendMessage', { chat_id: Number(address), ...toPrompt(click, card, fields) })
    await callBot(ctx, connection, 'answerCallbackQuery', { callback_query_id })
  }
  return { type: 'show', ...event, show }
}

function toPrompt({ button, place }: TelegramClick, card: Card, fields: EditField[]): JsonObject {
  if (button === 'field') return fieldMessage(card, fields, place)
  if (button === 'edit') return editMessage(card, fields)
  if (button === 'reason' || button === 'note') return textPrompt(card, button)
  return confirmMessage(card, button === 'askReject' ? 'reject' : 'approve')
}

async function deletePrompt(ctx: Ctx, connection: Connection, { chat, message }: TelegramClick): Promise<void> {
  await callBot(ctx, connection, 'deleteMessage', { chat_id: Number(chat), message_id: Number(message) })
}
