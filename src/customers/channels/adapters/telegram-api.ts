import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { objectField, pickFields, textField } from '../../../platform/base/json-fields.ts'
import type { UpstreamResponse } from '../../../connections/calls/executor.ts'
import { sendOutgoing } from '../../../connections/calls/http-request.ts'
import { encodeMultipart } from '../../../connections/operations/multipart.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { PayloadFile } from '../../../work/files/payload-files.ts'
import { openSecret } from '../../../identity/vault/secrets.ts'
import { hookHeader, requireHookSecret, requireSignature, type SignedHead } from './check-call.ts'
import { downloadUrl, failedDownload, providerUrl } from './provider-api.ts'

const TELEGRAM_API = 'https://api.telegram.org'

/** A bot, whose token is a part of every address: addresses must never be logged. */
export interface TelegramBot {
  connection: Connection
  token: string
}

/** Telegram signs nothing: it sends the secret itself. */
export function verifyTelegramHead(call: SignedHead): void {
  requireSignature(hookHeader(call, 'x-telegram-bot-api-secret-token'), requireHookSecret(call))
}

/** Calls a method of the Bot API. */
export const callTelegram = (ctx: Ctx, bot: TelegramBot, method: string, args: JsonObject): Promise<UpstreamResponse> =>
  sendToTelegram(ctx, bot, method, { contentType: 'application/json', body: JSON.stringify(args) })

export const telegramBody = ({ body }: UpstreamResponse): JsonObject => (isJsonObject(body) ? body : {})

/** Why Telegram refused a call, in its words. */
export const telegramError = (response: UpstreamResponse): string | null =>
  textField(telegramBody(response), 'description') || response.error

/** Names a message. It has its number within its chat only. */
export const telegramMessageId = (message: JsonObject): string =>
  `${telegramId(objectField(message, 'chat').id)}:${telegramId(message.message_id)}`

export const telegramId = (id: Json | undefined): string => (typeof id === 'number' ? String(id) : '')

/** One call for all files, so that either all or none arrive. The text is the caption of the first one. */
export function sendTelegramFiles(
  ctx: Ctx,
  bot: TelegramBot,
  payload: JsonObject,
  files: PayloadFile[],
): Promise<UpstreamResponse> {
  const target = Object.entries(pickFields(payload, 'chat_id', 'message_thread_id'))
  const fields = target.map(([name, value]) => ({ name, content: JSON.stringify(value) }))
  const caption = textField(payload, 'text')
  const isSingle = files.length === 1
  const media = files.map((_, n) => ({ type: 'document', media: `attach://file${n}`, ...(n === 0 && { caption }) }))
  const content = isSingle
    ? [
        { name: 'document', content: 'attach://file0' },
        { name: 'caption', content: caption },
      ]
    : [{ name: 'media', content: JSON.stringify(media) }]
  const parts = files.map(({ name, contentType, content }, n) => ({
    name: `file${n}`,
    filename: name,
    contentType,
    content,
  }))
  const body = encodeMultipart([...fields, ...content, ...parts])
  return sendToTelegram(ctx, bot, isSingle ? 'sendDocument' : 'sendMediaGroup', body)
}

export async function* downloadTelegramFile(ctx: Ctx, connection: Connection, fileId: string): AsyncGenerator<Buffer> {
  const bot = { connection, token: (await openSecret(ctx, connection)) ?? '' }
  const response = await callTelegram(ctx, bot, 'getFile', { file_id: fileId })
  const path = textField(objectField(telegramBody(response), 'result'), 'file_path')
  if (!response.ok || !path) throw failedDownload(telegramError(response) ?? 'telegram gave no address for it')
  const escaped = path.split('/').map(encodeURIComponent).join('/')
  yield* downloadUrl(ctx, providerUrl(connection, TELEGRAM_API, `/file/bot${bot.token}/${escaped}`))
}

interface TelegramBody {
  contentType: string
  body: string | Buffer
}

async function sendToTelegram(
  ctx: Ctx,
  { connection, token }: TelegramBot,
  method: string,
  { contentType, body }: TelegramBody,
): Promise<UpstreamResponse> {
  const response = await sendOutgoing(ctx, {
    method: 'POST',
    url: providerUrl(connection, TELEGRAM_API, `/bot${token}/${method}`),
    headers: { 'content-type': contentType, accept: 'application/json' },
    body,
  })
  return { ...response, secrets: [token] }
}
