import type { JsonObject } from '../../../platform/base/json.ts'
import { objectField, objectListField, textField, tryParseJsonObject } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { requireBoundedJson } from '../../../platform/base/strict-json.ts'
import type { MailAddress } from '../../../connections/mail/mail-address.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import {
  copyBytes,
  type FileBytes,
  isInlineLogo,
  type MailContent,
  parseHeaderMailbox,
  type ReceivedMail,
  toMailContent,
} from '../mail/received-mail.ts'
import { readPostmarkVerdict } from '../mail/mail-verdict.ts'
import { MAX_MAIL_VALUES } from './call-parsers.ts'

/** The body of Postmark's inbound webhook, for a channel with this address. */
export function parsePostmarkMail(body: Buffer, { address }: { address: string }): MailContent {
  requireBoundedJson(body, MAX_MAIL_VALUES)
  // A mail may contain characters that strict JSON refuses. They are removed from its texts later.
  const call = tryParseJsonObject(body.toString('utf8'))
  if (!call) throw badRequest('body must be a json object')
  return toMailContent({ address }, readMail(call))
}

function readMail(call: JsonObject): ReceivedMail {
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

function toFile(attachment: JsonObject): FileBytes[] {
  const contentType = textField(attachment, 'ContentType') || 'application/octet-stream'
  const content = textField(attachment, 'Content')
  // Four characters of base64 are three bytes.
  const size = Math.floor((content.length * 3) / 4)
  if (textField(attachment, 'ContentID') !== '' && isInlineLogo(contentType, size)) return []
  return [
    {
      name: textField(attachment, 'Name') || 'attachment',
      contentType,
      bytes: copyBytes(Buffer.from(content, 'base64')),
    },
  ]
}
