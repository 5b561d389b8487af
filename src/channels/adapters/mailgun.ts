import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { tryParseJson } from '../../base/json-fields.ts'
import { badRequest } from '../../base/problem.ts'
import { parseMailAddress } from '../../connections/mail/mail-address.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import { isInlineLogo } from '../mail/inline-image.ts'
import { findHeader, type MailHeaders } from '../mail/mail-headers.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { readMailgunVerdict } from '../mail/mail-verdict.ts'
import { parseHeaderMailbox, type ReceivedMail, toMailContent } from '../mail/received-mail.ts'
import type { ChannelAdapter, HookCall, HookContent, IncomingFile } from './adapter.ts'
import { hookHeader, requireFewFields, requireHookSecret, requireRecentCall, requireSignature } from './check-call.ts'

/** A route of Mailgun with the action `forward("<hook_url>")`. */
export const mailgunAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the HTTP webhook signing key of the Mailgun account',
  connection: { kind: 'email' },
  hook: { maxBytes: 40 * 1024 * 1024, verify: verifyMailgunCall, parse: parseMailgunCall },
  reply: mailReply,
}

async function verifyMailgunCall(ctx: Ctx, call: HookCall): Promise<void> {
  const form = await readForm(call)
  const [timestamp, token, signature] = ['timestamp', 'token', 'signature'].map((name) => formText(form, name))
  const expected = createHmac('sha256', requireHookSecret(call)).update(`${timestamp}${token}`).digest('hex')
  requireSignature(signature ?? '', expected)
  requireRecentCall(ctx, timestamp ?? '')
}

/** Multipart if the mail has attachments. */
async function readForm(call: HookCall): Promise<FormData> {
  requireFewFields(call)
  const headers = { 'content-type': hookHeader(call, 'content-type') }
  try {
    return await new Response(new Uint8Array(call.body), { headers }).formData()
  } catch {
    throw badRequest('body must be a form')
  }
}

function formText(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

async function parseMailgunCall(_ctx: Ctx, call: HookCall): Promise<HookContent> {
  return toMailContent(call.channel, readMailgunMail(await readForm(call)))
}

function readMailgunMail(form: FormData): ReceivedMail {
  const headers = parseHeaders(formText(form, 'message-headers'))
  const visible = [findHeader(headers, 'to'), findHeader(headers, 'cc')].join(',').split(',')
  return {
    headers,
    from: parseHeaderMailbox(formText(form, 'from')),
    replyTo: parseMailAddress(findHeader(headers, 'reply-to') ?? ''),
    recipients: [formText(form, 'recipient'), ...visible.map((one) => parseHeaderMailbox(one)?.address ?? '')],
    subject: formText(form, 'subject'),
    text: formText(form, 'body-plain'),
    html: formText(form, 'body-html'),
    files: listFiles(form),
    report: isDeliveryReport(headers) ? { undelivered: null } : null,
    verdict: readMailgunVerdict(headers),
  }
}

/** A JSON list of pairs. */
function parseHeaders(text: string): MailHeaders {
  const pairs = tryParseJson(text)
  if (!Array.isArray(pairs)) return []
  return pairs.flatMap((pair) => {
    const [name, value] = Array.isArray(pair) ? pair : []
    return typeof name === 'string' && typeof value === 'string' ? [{ name: name.toLowerCase(), value }] : []
  })
}

function listFiles(form: FormData): IncomingFile[] {
  const inline = formText(form, 'content-id-map')
  return [...form].flatMap(([name, value]) => {
    if (typeof value === 'string' || !/^attachment-\d+$/.test(name)) return []
    if (inline.includes(`"${name}"`) && isInlineLogo(value.type, value.size)) return []
    const contentType = value.type || 'application/octet-stream'
    return [{ name: value.name, contentType, open: () => readBlob(value) }]
  })
}

async function* readBlob(blob: Blob): AsyncGenerator<Buffer> {
  yield Buffer.from(await blob.arrayBuffer())
}
