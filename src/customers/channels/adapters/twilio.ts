import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isJsonObject } from '../../../platform/base/json.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { sendAuthorized } from '../../../connections/calls/http-request.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ChannelAdapter, HookCall, IncomingFile, IncomingMessage, ReplyCall, ReplyResult } from './adapter.ts'
import { hookHeader, requireHookSecret, requireSignature } from './check-call.ts'
import { toReplyPayload, downloadFile, isProviderAddress, providerUrl } from './provider-api.ts'

/** SMS and WhatsApp. The connection has `account_sid`, and may have `from`; its secret is the auth token. */
export const twilioAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  isChat: true,
  secret: 'the auth token of the Twilio account',
  connection: { kind: 'custom' },
  hook: {
    maxBytes: 256 * 1024,
    // The signature is over the body; without a secret no call can be valid.
    verifyHead: (_ctx, head) => void requireHookSecret(head),
    verifyBody: verifyTwilioCall,
    parse: async (ctx, call) => ({
      messages: toMessages(ctx, call.connection, await call.read('formFields', null)),
      response: { contentType: 'text/xml', body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>' },
    }),
  },
  reply: {
    schema: {
      type: 'object',
      properties: {
        to: { type: 'string', minLength: 1 },
        from: { type: 'string', minLength: 1 },
        text: { type: 'string', minLength: 1, maxLength: 1600 },
      },
      required: ['to', 'from', 'text'],
      additionalProperties: false,
    },
    compose(conversation, draft) {
      // Twilio would have to fetch a file from a public address.
      if (draft.files.length > 0) throw badRequest('an sms or whatsapp message cannot carry files')
      return toReplyPayload(conversation, draft)
    },
    send: sendTwilioMessage,
  },
}

/** The signature covers the address and the sorted fields. Twilio signs some addresses with the default port. */
async function verifyTwilioCall(_ctx: Ctx, call: HookCall): Promise<void> {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of await call.read('formFields', null))
    values.set(name, (values.get(name) ?? new Set()).add(value))
  const fields = [...values]
    .toSorted(([a], [b]) => byCodeUnits(a, b))
    .flatMap(([name, unsorted]) => [...unsorted].toSorted(byCodeUnits).map((value) => name + value))
  const secret = requireHookSecret(call)
  const signatures = addressesWithAndWithoutPort(call.url).map((address) =>
    createHmac('sha1', secret)
      .update(address + fields.join(''))
      .digest('base64'),
  )
  requireSignature(hookHeader(call, 'x-twilio-signature'), ...signatures)
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function addressesWithAndWithoutPort(address: string): string[] {
  const [, scheme = '', host = '', port, rest = ''] = /^(https?:\/\/)([^/?#]*?)(:\d+)?([/?#].*)?$/s.exec(address) ?? []
  const defaultPort = scheme === 'https://' ? ':443' : ':80'
  return [scheme + host + rest, scheme + host + (port ?? defaultPort) + rest]
}

/** A report about a message that was sent, and a message that Twilio has already answered, start nothing. */
function toMessages(ctx: Ctx, connection: Connection, fields: [name: string, value: string][]): IncomingMessage[] {
  const form = new Map(fields.map(([name, value]) => [name, storable(value)]))
  const [sid = '', from = '', to = ''] = ['MessageSid', 'From', 'To'].map((name) => form.get(name))
  if (!sid || !from || !to || !form.has('Body')) return []
  const sender = connection.config.from
  return [
    {
      externalId: sid,
      // The same person on SMS and WhatsApp is one client with two conversations.
      from: { handle: withoutService(from), name: form.get('ProfileName') || null },
      body: form.get('Body') ?? '',
      subject: null,
      conversationKey: from === withoutService(from) ? '' : 'whatsapp',
      address: { to: from, from: typeof sender === 'string' ? sameService(from, sender) : to },
      files: listMedia(ctx, connection, form),
      // STOP and HELP: Twilio has answered, and refuses further messages to the number.
      isAutomatic: form.has('OptOutType'),
    },
  ]
}

/** PostgreSQL cannot store NUL. */
const storable = (text: string): string => text.replaceAll('\0', '')

const withoutService = (number: string): string => number.replace(/^whatsapp:/, '')

const sameService = (from: string, sender: string): string =>
  from === withoutService(from) ? sender : `whatsapp:${withoutService(sender)}`

function listMedia(ctx: Ctx, connection: Connection, form: Map<string, string>): IncomingFile[] {
  const count = Math.min(MAX_MEDIA, Number(form.get('NumMedia') ?? 0) || 0)
  return Array.from({ length: count }, (_, n) => n).flatMap((n) => {
    const url = form.get(`MediaUrl${n}`) ?? ''
    if (!isProviderAddress(connection, url, 'twilio.com')) return []
    const contentType = form.get(`MediaContentType${n}`) || 'application/octet-stream'
    const name = `media-${n + 1}.${contentType.split(/[/;+]/)[1] ?? 'bin'}`
    // Twilio redirects to the server that stores the media.
    return [{ name, contentType, open: () => downloadFile(ctx, withAccount(connection), new URL(url), 'follow') }]
  })
}

const MAX_MEDIA = 10

async function sendTwilioMessage(ctx: Ctx, { connection, secret, payload }: ReplyCall): Promise<ReplyResult> {
  const [To = '', From = '', Body = ''] = ['to', 'from', 'text'].map((key) => textField(payload, key))
  const response = await sendAuthorized(ctx, withAccount(connection), secret, {
    method: 'POST',
    url: messagesUrl(connection),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ To, From, Body }).toString(),
  })
  const body = isJsonObject(response.body) ? response.body : {}
  if (!response.ok) return { ...response, error: textField(body, 'message') || response.error, externalId: null }
  return { ...response, externalId: textField(body, 'sid') || null }
}

/** The base URL of the preset ends with the account; any other is the address of the whole API. */
function messagesUrl(connection: Connection): URL {
  const base = providerUrl(connection, 'https://api.twilio.com', '').href.replace(/\/$/, '')
  if (/\/Accounts\/\w+$/.test(base)) return new URL(`${base}/Messages.json`)
  return new URL(`${base}/2010-04-01/Accounts/${requireAccount(connection)}/Messages.json`)
}

const withAccount = (connection: Connection): Connection =>
  connection.config.auth === undefined
    ? { ...connection, config: { ...connection.config, auth: { type: 'basic', username: requireAccount(connection) } } }
    : connection

function requireAccount({ name, config: { account_sid } }: Connection): string {
  if (typeof account_sid === 'string' && /^\w+$/.test(account_sid)) return account_sid
  throw badRequest(`connection '${name}': config.account_sid must be the SID of the Twilio account`)
}
