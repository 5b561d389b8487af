import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { objectField, objectListField, pickFields, textField } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { loadPayloadFiles } from '../../../work/files/payload-files.ts'
import type { ChannelAdapter, IncomingFile, IncomingMessage, ReplyCall, ReplyResult } from './adapter.ts'
import { toReplyPayload } from './provider-api.ts'
import {
  callTelegram,
  downloadTelegramFile,
  sendTelegramFiles,
  telegramBody,
  telegramError,
  telegramId,
  telegramMessageId,
  verifyTelegramHead,
} from './telegram-api.ts'

const MAX_CAPTION = 1024

/** Bot API webhook in, `sendMessage` out. The connection's secret is the token of the bot. */
export const telegramAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  isChat: true,
  secret: 'the secret_token that was given to setWebhook',
  connection: { kind: 'custom' },
  hook: {
    maxBytes: 1024 * 1024,
    verifyHead: (_ctx, head) => verifyTelegramHead(head),
    parse: async (ctx, call) => ({ messages: toMessages(ctx, call.connection, await call.read('jsonObject', null)) }),
  },
  reply: {
    schema: {
      type: 'object',
      properties: {
        chat_id: { type: 'integer' },
        message_thread_id: { type: 'integer' },
        text: { type: 'string', minLength: 1, maxLength: 4096 },
        files: { type: 'array', maxItems: 10, items: { type: 'object' } },
      },
      required: ['chat_id', 'text'],
      additionalProperties: false,
    },
    compose(conversation, draft) {
      if (draft.files.length > 0 && draft.text.length > MAX_CAPTION)
        throw badRequest(`a text with files may have at most ${MAX_CAPTION} characters on telegram`)
      return toReplyPayload(conversation, draft)
    },
    send: sendTelegramReply,
  },
}

/** Edits, posts of channels and messages of other bots start nothing. */
function toMessages(ctx: Ctx, connection: Connection, update: JsonObject): IncomingMessage[] {
  const message = objectField(update, 'message')
  const [chat, from] = [objectField(message, 'chat'), objectField(message, 'from')]
  const files = listFiles(ctx, connection, message)
  const body = textOf(message)
  if (typeof chat.id !== 'number' || typeof from.id !== 'number' || from.is_bot === true) return []
  if (body === '' && files.length === 0) return []
  const topic = message.is_topic_message === true ? message.message_thread_id : undefined
  return [
    {
      // After a quiet week Telegram restarts the numbers of updates at random, so they are not enough alone.
      externalId: [update.update_id, chat.id, message.message_id].map(telegramId).join(':'),
      from: { handle: `telegram:${from.id}`, name: fullName(from) },
      body,
      subject: null,
      conversationKey: topic === undefined ? telegramId(chat.id) : `${chat.id}:${telegramId(topic)}`,
      address: { chat_id: chat.id, ...(typeof topic === 'number' && { message_thread_id: topic }) },
      files,
    },
  ]
}

const fullName = (person: JsonObject): string | null =>
  [textField(person, 'first_name'), textField(person, 'last_name')].filter(Boolean).join(' ') || null

function textOf(message: JsonObject): string {
  const { latitude, longitude } = objectField(message, 'location')
  if (typeof latitude === 'number' && typeof longitude === 'number') return `Location: ${latitude}, ${longitude}`
  const contact = objectField(message, 'contact')
  if (contact.phone_number) return `Contact: ${fullName(contact) ?? ''} ${textField(contact, 'phone_number')}`.trim()
  const sticker = textField(objectField(message, 'sticker'), 'emoji')
  return textField(message, 'text') || textField(message, 'caption') || sticker
}

/** The kinds of files with the content type of those that have none in the message. */
const FILE_FIELDS = {
  document: 'application/octet-stream',
  audio: 'audio/mpeg',
  voice: 'audio/ogg',
  video: 'video/mp4',
  video_note: 'video/mp4',
}

function listFiles(ctx: Ctx, connection: Connection, message: JsonObject): IncomingFile[] {
  // A photo comes in several sizes, the largest last.
  const photo = objectListField(message, 'photo').at(-1)
  const others = Object.entries(FILE_FIELDS).flatMap(([field, contentType]) => {
    const file = message[field]
    return isJsonObject(file) ? [{ file, field, contentType }] : []
  })
  const all = photo ? [{ file: photo, field: 'photo', contentType: 'image/jpeg' }, ...others] : others
  return all.map(({ file, field, contentType }) => ({
    name: textField(file, 'file_name') || (field === 'photo' ? 'photo.jpg' : field),
    contentType: textField(file, 'mime_type') || contentType,
    open: () => downloadTelegramFile(ctx, connection, textField(file, 'file_id')),
  }))
}

async function sendTelegramReply(ctx: Ctx, { connection, secret, payload }: ReplyCall): Promise<ReplyResult> {
  const bot = { connection, token: secret ?? '' }
  const files = [...(await loadPayloadFiles(ctx, connection.project_id, payload)).values()]
  const response =
    files.length > 0
      ? await sendTelegramFiles(ctx, bot, payload, files)
      : await callTelegram(ctx, bot, 'sendMessage', pickFields(payload, 'chat_id', 'message_thread_id', 'text'))
  if (!response.ok) return { ...response, error: telegramError(response), externalId: null }
  const [first] = objectListField(telegramBody(response), 'result')
  return { ...response, externalId: telegramMessageId(first ?? objectField(telegramBody(response), 'result')) }
}
