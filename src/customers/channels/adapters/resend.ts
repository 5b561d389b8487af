import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { objectField, objectListField, textField } from '../../../platform/base/json-fields.ts'
import { badRequest, Problem } from '../../../platform/base/problem.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { isInlineLogo, toHookContent } from '../mail/received-mail.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { parseUntrusted } from '../parsers/parse-untrusted.ts'
import type { ChannelAdapter, HookCall, HookContent, IncomingFile } from './adapter.ts'
import { hookHeader, requireHookSecret, requireRecentCall, requireSignature } from './check-call.ts'
import { downloadFile, downloadUrl, providerUrl } from './provider-api.ts'

/** The webhook `email.received` of Resend. It has no content: the mail is read from the API of the connection. */
export const resendAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'the signing secret of the Resend webhook, such as whsec_…',
  // The mail itself is read from the API of the connection.
  connection: { kind: 'email', provider: 'resend' },
  hook: {
    maxBytes: 1024 * 1024,
    verifyHead: (ctx, head) => requireRecentCall(ctx, hookHeader(head, 'svix-timestamp')),
    verifyBody: verifyResendCall,
    parse: parseResendCall,
  },
  reply: mailReply,
}

/** Resend signs with Svix: an HMAC over the id, the time and the body. After a change of the secret there are two. */
function verifyResendCall(_ctx: Ctx, call: HookCall): void {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => hookHeader(call, `svix-${name}`))
  const key = Buffer.from(requireHookSecret(call).replace(/^whsec_/, ''), 'base64')
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), call.body])
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  requireSignature(expected, ...(signatures ?? '').split(' '))
}

async function parseResendCall(ctx: Ctx, call: HookCall): Promise<HookContent> {
  const event = await call.read('jsonObject', null)
  if (textField(event, 'type') !== 'email.received') return { messages: [] }
  const id = textField(objectField(event, 'data'), 'email_id')
  if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw badRequest("field 'data.email_id' must be the id of a mail")
  const { content, hasAttachments } = await readApi(
    ctx,
    call.connection,
    `/emails/receiving/${id}?html_format=cid`,
    (body) => parseUntrusted(ctx, 'resendMail', body, { address: call.channel.address }),
  )
  const files = hasAttachments ? await listFiles(ctx, call.connection, id) : []
  const { messages, ...others } = toHookContent(content)
  return { ...others, messages: messages.map((message) => ({ ...message, files: [...message.files, ...files] })) }
}

const MAX_RESPONSE_BYTES = 20 * 1024 * 1024

/** A mail that cannot be read is a 502, so that Resend calls again later. */
async function readApi<Result>(
  ctx: Ctx,
  connection: Connection,
  path: string,
  parse: (body: Buffer) => Promise<Result>,
): Promise<Result> {
  const withAuth = { ...connection, config: { ...connection.config, auth: { type: 'bearer' } } }
  const url = providerUrl(connection, BASE_URL, path)
  try {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of downloadFile(ctx, withAuth, url, 'refuse')) {
      size += piece.length
      if (size > MAX_RESPONSE_BYTES) throw badRequest('the mail is larger than 20 MiB without its attachments')
      pieces.push(piece)
    }
    return await parse(Buffer.concat(pieces))
  } catch (error) {
    if (error instanceof Problem) throw new Problem(502, `the mail was not read from Resend: ${error.message}`)
    throw error
  }
}

const BASE_URL = 'https://api.resend.com'

/** The addresses of attachments are valid for an hour, so they are asked for once the mail is known to have some. */
async function listFiles(ctx: Ctx, connection: Connection, id: string): Promise<IncomingFile[]> {
  const response = await readApi(ctx, connection, `/emails/receiving/${id}/attachments?limit=100`, (body) =>
    parseUntrusted(ctx, 'jsonObject', body, null),
  )
  return objectListField(response, 'data').flatMap((attachment) => {
    const [contentType, url] = ['content_type', 'download_url'].map((key) => textField(attachment, key))
    const size = Number(attachment.size)
    if (!URL.canParse(url ?? '')) return []
    if (textField(attachment, 'content_disposition') === 'inline' && isInlineLogo(contentType ?? '', size)) return []
    return [
      {
        name: textField(attachment, 'filename') || 'attachment',
        contentType: contentType || 'application/octet-stream',
        open: () => downloadUrl(ctx, new URL(url ?? '')),
      },
    ]
  })
}
