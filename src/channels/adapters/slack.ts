import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { objectField, objectListField, textField } from '../../base/json-fields.ts'
import type { UpstreamResponse } from '../../connections/executors/executor.ts'
import { sendAuthorized } from '../../connections/executors/http-request.ts'
import type { Connection } from '../../connections/rows.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import type {
  ChannelAdapter,
  HookCall,
  HookContent,
  IncomingFile,
  IncomingMessage,
  ReplyCall,
  ReplyResult,
} from './adapter.ts'
import { hookHeader, parseCallObject, requireHookSecret, requireRecentCall, requireSignature } from './check-call.ts'
import { downloadFile, isProviderAddress, parseReplyAddress, providerUrl } from './provider-api.ts'
import { fromSlackText, toSlackText } from './slack-text.ts'

/** Events API in, `chat.postMessage` out. The connection's secret is the bot token. */
export const slackAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the signing secret of the Slack app',
  hook: { maxBytes: 1024 * 1024, verify: verifySlackCall, parse: parseSlackCall },
  reply: {
    schema: {
      type: 'object',
      properties: {
        channel: { type: 'string', minLength: 1 },
        thread_ts: { type: 'string', minLength: 1 },
        text: { type: 'string', minLength: 1, maxLength: 40_000 },
      },
      required: ['channel', 'thread_ts', 'text'],
      additionalProperties: false,
    },
    compose: (conversation, { text }) => ({ ...parseReplyAddress(conversation), text }),
    send: postSlackMessage,
  },
}

function verifySlackCall(ctx: Ctx, call: HookCall): void {
  const time = hookHeader(call, 'x-slack-request-timestamp')
  requireRecentCall(ctx, time)
  const mac = createHmac('sha256', requireHookSecret(call)).update(`v0:${time}:`).update(call.body).digest('hex')
  requireSignature(hookHeader(call, 'x-slack-signature'), `v0=${mac}`)
}

async function parseSlackCall(ctx: Ctx, call: HookCall): Promise<HookContent> {
  const payload = parseCallObject(call)
  if (payload.type === 'url_verification') {
    const body = JSON.stringify({ challenge: textField(payload, 'challenge') })
    return { messages: [], response: { contentType: 'application/json', body } }
  }
  return { messages: payload.type === 'event_callback' ? toMessages(ctx, call.connection, payload) : [] }
}

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
      // An app that gets mentions and messages hears of one message in two events, so the id of the event is not enough.
      externalId: `${channel}:${ts}`,
      from: { handle: `slack:${teamOf(payload, event)}:${user}`, name: nameOf(event) },
      body: fromSlackText(textField(event, 'text'), ownUsers(payload)),
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

const SLACK_API = 'https://slack.com/api'

async function postSlackMessage(ctx: Ctx, { connection, secret, payload }: ReplyCall): Promise<ReplyResult> {
  const [channel = '', thread_ts = '', text = ''] = ['channel', 'thread_ts', 'text'].map((key) =>
    textField(payload, key),
  )
  const response = await sendAuthorized(ctx, connection, secret, {
    method: 'POST',
    url: providerUrl(connection, SLACK_API, '/chat.postMessage'),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ channel, thread_ts, text: toSlackText(text) }).toString(),
  })
  return toSlackResult(response)
}

/** After these errors the message may have been posted. */
const UNCLEAR_ERRORS = ['fatal_error', 'internal_error', 'request_timeout']

/** Slack answers 200 also when it refuses. */
function toSlackResult(response: UpstreamResponse): ReplyResult {
  const body = isJsonObject(response.body) ? response.body : {}
  if (!response.ok) return { ...response, externalId: null }
  if (body.ok === true) return { ...response, externalId: `${textField(body, 'channel')}:${textField(body, 'ts')}` }
  const error = textField(body, 'error')
  const unclear = !error || UNCLEAR_ERRORS.includes(error)
  return { ...response, ok: false, unclear, error: `slack answered ${error || 'no json'}`, externalId: null }
}
