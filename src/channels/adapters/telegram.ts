import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { objectField, objectListField, pickFields, textField } from '../../base/json-fields.ts'
import { Problem } from '../../base/problem.ts'
import type { UpstreamResponse } from '../../connections/executors/executor.ts'
import { sendOutgoing } from '../../connections/executors/http-request.ts'
import type { Connection } from '../../connections/rows.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { openSecret } from '../../vault/secrets.ts'
import type { ChannelAdapter, HookCall, IncomingFile, IncomingMessage, ReplyCall, ReplyResult } from './adapter.ts'
import { hookHeader, parseCallObject, requireHookSecret, requireSignature } from './check-call.ts'
import { downloadUrl, parseReplyAddress, providerUrl } from './provider-api.ts'

/** Bot API webhook in, `sendMessage` out. The connection's secret is the token of the bot. */
export const telegramAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the secret_token that was given to setWebhook',
  hook: {
    maxBytes: 1024 * 1024,
    // Telegram signs nothing: it sends the secret itself.
    verify: (_ctx, call) =>
      requireSignature(hookHeader(call, 'x-telegram-bot-api-secret-token'), requireHookSecret(call)),
    parse: async (ctx, call) => ({ messages: toMessages(ctx, call) }),
  },
  reply: {
    schema: {
      type: 'object',
      properties: {
        chat_id: { type: 'integer' },
        message_thread_id: { type: 'integer' },
        text: { type: 'string', minLength: 1, maxLength: 4096 },
      },
      required: ['chat_id', 'text'],
      additionalProperties: false,
    },
    compose: (conversation, { text }) => ({ ...parseReplyAddress(conversation), text }),
    send: sendTelegramMessage,
  },
}

/** Edits, posts of channels and messages of other bots start nothing. */
function toMessages(ctx: Ctx, call: HookCall): IncomingMessage[] {
  const update = parseCallObject(call)
  const message = objectField(update, 'message')
  const [chat, from] = [objectField(message, 'chat'), objectField(message, 'from')]
  const files = listFiles(ctx, call.connection, message)
  const body = textOf(message)
  if (typeof chat.id !== 'number' || typeof from.id !== 'number' || from.is_bot === true) return []
  if (body === '' && files.length === 0) return []
  const topic = message.is_topic_message === true ? message.message_thread_id : undefined
  return [
    {
      // After a quiet week Telegram restarts the numbers of updates at random, so they are not enough alone.
      externalId: [update.update_id, chat.id, message.message_id].map(idText).join(':'),
      from: { handle: `telegram:${from.id}`, name: fullName(from) },
      body,
      subject: null,
      conversationKey: topic === undefined ? idText(chat.id) : `${chat.id}:${idText(topic)}`,
      address: { chat_id: chat.id, ...(typeof topic === 'number' && { message_thread_id: topic }) },
      files,
    },
  ]
}

const idText = (id: Json | undefined): string => (typeof id === 'number' ? String(id) : '')

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

const TELEGRAM_API = 'https://api.telegram.org'

async function* downloadTelegramFile(ctx: Ctx, connection: Connection, fileId: string): AsyncGenerator<Buffer> {
  const token = (await openSecret(ctx, connection)) ?? ''
  const response = await callMethod(ctx, connection, token, 'getFile', { file_id: fileId })
  const path = isJsonObject(response.body) ? textField(objectField(response.body, 'result'), 'file_path') : ''
  if (!response.ok || !path) throw new Problem(502, 'telegram did not say where the file is')
  const escaped = path.split('/').map(encodeURIComponent).join('/')
  yield* downloadUrl(ctx, providerUrl(connection, TELEGRAM_API, `/file/bot${token}/${escaped}`))
}

async function sendTelegramMessage(ctx: Ctx, { connection, secret, payload }: ReplyCall): Promise<ReplyResult> {
  const message = pickFields(payload, 'chat_id', 'message_thread_id', 'text')
  const response = await callMethod(ctx, connection, secret ?? '', 'sendMessage', message)
  const body = isJsonObject(response.body) ? response.body : {}
  if (!response.ok) return { ...response, error: textField(body, 'description') || response.error, externalId: null }
  const sent = objectField(body, 'result')
  return { ...response, externalId: `${idText(objectField(sent, 'chat').id)}:${idText(sent.message_id)}` }
}

/** The token is a part of the address, so the address must never be logged. */
async function callMethod(
  ctx: Ctx,
  connection: Connection,
  token: string,
  method: string,
  args: JsonObject,
): Promise<UpstreamResponse> {
  const response = await sendOutgoing(ctx, {
    method: 'POST',
    url: providerUrl(connection, TELEGRAM_API, `/bot${token}/${method}`),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(args),
  })
  return { ...response, secrets: [token] }
}
