import { z } from 'zod'
import type { JsonObject } from '../../base/json.ts'
import { objectField, objectListField, textField, tryParseJsonObject } from '../../base/json-fields.ts'
import { badRequest } from '../../base/problem.ts'
import type { MailAddress } from '../../connections/mail/mail-address.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import { isInlineLogo } from '../mail/inline-image.ts'
import { mailReply } from '../mail/mail-reply.ts'
import { readPostmarkVerdict } from '../mail/mail-verdict.ts'
import { parseHeaderMailbox, type ReceivedMail, toMailContent } from '../mail/received-mail.ts'
import type { ChannelAdapter, HookCall, HookContent, IncomingFile } from './adapter.ts'
import { hookHeader, requireHookSecret, requireSignature } from './check-call.ts'

/** The inbound webhook of Postmark. Its address is registered as `https://any:<secret>@<host>/v1/hooks/…`. */
export const postmarkAdapter: ChannelAdapter = {
  config: z.strictObject({}),
  secret: 'a password of your choice, which is part of the webhook address at Postmark',
  connection: { kind: 'email' },
  hook: { maxBytes: 50 * 1024 * 1024, verify: verifyPassword, parse: parsePostmarkCall },
  reply: mailReply,
}

/** Postmark signs nothing: it sends the password by HTTP Basic. */
function verifyPassword(_ctx: Ctx, call: HookCall): void {
  const [, encoded = ''] = /^basic\s+(\S+)$/i.exec(hookHeader(call, 'authorization')) ?? []
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  requireSignature(credentials.slice(credentials.indexOf(':') + 1), requireHookSecret(call))
}

async function parsePostmarkCall(_ctx: Ctx, { channel, body }: HookCall): Promise<HookContent> {
  // A mail may contain characters that strict JSON refuses. They are removed from its texts later.
  const call = tryParseJsonObject(body.toString('utf8'))
  if (!call) throw badRequest('body must be a json object')
  return toMailContent(channel, readPostmarkMail(call))
}

function readPostmarkMail(call: JsonObject): ReceivedMail {
  const headers = objectListField(call, 'Headers').map((header) => ({
    name: textField(header, 'Name').toLowerCase(),
    value: textField(header, 'Value'),
  }))
  const recipients = ['ToFull', 'CcFull', 'BccFull'].flatMap((key) => objectListField(call, key))
  return {
    headers,
    from: toAddress(objectField(call, 'FromFull')),
    replyTo: parseHeaderMailbox(textField(call, 'ReplyTo')),
    recipients: [textField(call, 'OriginalRecipient'), ...recipients.map((one) => textField(one, 'Email'))],
    subject: textField(call, 'Subject'),
    text: textField(call, 'TextBody'),
    html: textField(call, 'HtmlBody'),
    files: objectListField(call, 'Attachments').flatMap(toFile),
    report: isDeliveryReport(headers) ? { undelivered: null } : null,
    verdict: readPostmarkVerdict(headers),
  }
}

function toAddress(full: JsonObject): MailAddress | null {
  const address = textField(full, 'Email')
  return address === '' ? null : { name: textField(full, 'Name'), address }
}

function toFile(attachment: JsonObject): IncomingFile[] {
  const contentType = textField(attachment, 'ContentType') || 'application/octet-stream'
  const content = textField(attachment, 'Content')
  // Four characters of base64 are three bytes.
  const size = Math.floor((content.length * 3) / 4)
  if (textField(attachment, 'ContentID') !== '' && isInlineLogo(contentType, size)) return []
  return [
    {
      name: textField(attachment, 'Name') || 'attachment',
      contentType,
      async *open() {
        yield Buffer.from(content, 'base64')
      },
    },
  ]
}
