import { z } from 'zod'
import type { JsonObject } from '../../../platform/base/json.ts'
import { objectField, objectListField, textField } from '../../../platform/base/json-fields.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { loadPayloadFiles, type PayloadFile } from '../../../work/files/payload-files.ts'
import type {
  ChannelAdapter,
  HookCall,
  HookContent,
  IncomingFile,
  IncomingMessage,
  ReplyCall,
  ReplyResult,
} from './adapter.ts'
import { toReplyPayload, downloadFile, isProviderAddress } from './provider-api.ts'
import {
  callSlack,
  type SlackBot,
  slackMessageId,
  uploadSlackFile,
  verifySlackBody,
  verifySlackHead,
} from './slack-api.ts'
import { fromSlackText, toSlackText } from './slack-text.ts'

/** Events API in, `chat.postMessage` out. The connection's secret is the bot token. */
export const slackAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  isChat: true,
  secret: 'the signing secret of the Slack app',
  connection: { kind: 'custom' },
  hook: { maxBytes: 1024 * 1024, verifyHead: verifySlackHead, verifyBody: verifySlackBody, parse: parseSlackCall },
  reply: {
    schema: {
      type: 'object',
      properties: {
        channel: { type: 'string', minLength: 1 },
        thread_ts: { type: 'string', minLength: 1 },
        text: { type: 'string', minLength: 1, maxLength: 40_000 },
        files: { type: 'array', maxItems: 10, items: { type: 'object' } },
      },
      required: ['channel', 'thread_ts', 'text'],
      additionalProperties: false,
    },
    compose: toReplyPayload,
    send: postSlackReply,
  },
}

async function parseSlackCall(ctx: Ctx, call: HookCall): Promise<HookContent> {
  const payload = await call.read('jsonObject', null)
  if (payload.type === 'url_verification') {
    const body = JSON.stringify({ challenge: textField(payload, 'challenge') })
    return { messages: [], response: { contentType: 'application/json', body } }
  }
  return { messages: payload.type === 'event_callback' ? toMessages(ctx, call.connection, payload) : [] }
}

/** Slack's own limit. */
const MAX_TEXT_CHARACTERS = 40_000

/** Edits, joins and other events have a subtype; messages of bots, including our own, would answer each other for ever. */
function toMessages(ctx: Ctx, connection: Connection, payload: JsonObject): IncomingMessage[] {
  const event = objectField(payload, 'event')
  const [type = '', user = '', channel = '', ts = ''] = ['type', 'user', 'channel', 'ts'].map((key) =>
    textField(event, key),
  )
  const isMessage = type === 'message' || type === 'app_mention'
  const isByPerson = ['', 'file_share', 'thread_broadcast'].includes(textField(event, 'subtype')) && !event.bot_id
  if (!isMessage || !isByPerson || !user || !channel || !ts) return []
  const root = textField(event, 'thread_ts') || ts
  // A direct conversation with a person is one conversation; elsewhere each thread is one.
  const isDirect = event.channel_type === 'im'
  return [
    {
      // An app that gets mentions and messages gets two events for one message, so the id of the event is not enough.
      externalId: `${channel}:${ts}`,
      from: { handle: `slack:${teamOf(payload, event)}:${user}`, name: nameOf(event) },
      body: fromSlackText(textField(event, 'text').slice(0, MAX_TEXT_CHARACTERS), ownUsers(payload)),
      subject: null,
      conversationKey: isDirect ? channel : `${channel}:${root}`,
      ...(isDirect && { continues: { externalIds: [`${channel}:${root}`], replyToken: null } }),
      address: { channel, thread_ts: root },
      files: objectListField(event, 'files').flatMap((file) => toFile(ctx, connection, file)),
    },
  ]
}

/** In a shared channel the person belongs to another workspace than the app. */
const teamOf = (payload: JsonObject, event: JsonObject): string =>
  textField(event, 'user_team') || textField(event, 'team') || textField(payload, 'team_id')

function nameOf(event: JsonObject): string | null {
  const profile = objectField(event, 'user_profile')
  return textField(profile, 'real_name') || textField(profile, 'display_name') || null
}

function toFile(ctx: Ctx, connection: Connection, file: JsonObject): IncomingFile[] {
  const address = textField(file, 'url_private')
  // A file that Slack only links to is on another server.
  if (!isProviderAddress(connection, address, 'slack.com')) return []
  return [
    {
      name: textField(file, 'name') || textField(file, 'id') || 'file',
      contentType: textField(file, 'mimetype') || 'application/octet-stream',
      // Without the scope files:read, Slack redirects to the page where people sign in.
      open: () => downloadFile(ctx, connection, new URL(address), 'refuse'),
    },
  ]
}

const ownUsers = (payload: JsonObject): string[] =>
  objectListField(payload, 'authorizations').map((one) => textField(one, 'user_id'))

async function postSlackReply(ctx: Ctx, { connection, secret, payload }: ReplyCall): Promise<ReplyResult> {
  const [channel = '', thread_ts = '', draft = ''] = REPLY_FIELDS.map((key) => textField(payload, key))
  const bot = { connection, token: secret }
  const text = toSlackText(draft)
  const files = [...(await loadPayloadFiles(ctx, connection.project_id, payload)).values()]
  if (files.length > 0) return postFiles(ctx, bot, files, { channel_id: channel, thread_ts, initial_comment: text })
  const response = await callSlack(ctx, bot, 'chat.postMessage', { channel, thread_ts, text })
  return { ...response, externalId: response.ok ? slackMessageId(response) : null }
}

const REPLY_FIELDS = ['channel', 'thread_ts', 'text']

/** The text is the comment of the files, so that both are one message. */
async function postFiles(
  ctx: Ctx,
  bot: SlackBot,
  files: PayloadFile[],
  message: Record<string, string>,
): Promise<ReplyResult> {
  const uploaded: { id: string; title: string }[] = []
  for (const file of files) uploaded.push({ id: await uploadSlackFile(ctx, bot, file), title: file.name })
  const fields = { ...message, files: JSON.stringify(uploaded) }
  return { ...(await callSlack(ctx, bot, 'files.completeUploadExternal', fields)), externalId: null }
}
