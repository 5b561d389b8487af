import type { JsonObject } from '../../../platform/base/json.ts'
import {
  listField,
  objectField,
  objectListField,
  textField,
  tryParseJsonObject,
} from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { requireBoundedJson } from '../../../platform/base/strict-json.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import { readAuthenticationResults } from '../mail/mail-verdict.ts'
import { type MailContent, parseHeaderMailbox, type ReceivedMail, toMailContent } from '../mail/received-mail.ts'
import { MAX_MAIL_VALUES } from './call-parsers.ts'

/** A mail as the API of Resend returns it. Its attachments are downloaded one by one. */
export function parseResendMail(
  body: Buffer,
  { address }: { address: string },
): { content: MailContent; hasAttachments: boolean } {
  requireBoundedJson(body, MAX_MAIL_VALUES)
  const mail = tryParseJsonObject(body.toString('utf8'))
  if (!mail) throw badRequest('the mail is not a json object')
  const hasAttachments = objectListField(mail, 'attachments').length > 0
  return { content: toMailContent({ address }, readMail(mail)), hasAttachments }
}

function readMail(mail: JsonObject): ReceivedMail {
  const given = Object.entries(objectField(mail, 'headers')).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (typeof one === 'string' ? [{ name: name.toLowerCase(), value: one }] : [])),
  )
  const headers = [{ name: 'message-id', value: textField(mail, 'message_id') }, ...given]
  const recipients = ['received_for', 'to', 'cc', 'bcc'].flatMap((key) => listField(mail, key).map(String))
  const [replyTo] = listField(mail, 'reply_to').map(String)
  return {
    headers,
    from: parseHeaderMailbox(textField(mail, 'from')),
    replyTo: parseHeaderMailbox(replyTo ?? ''),
    recipients: recipients.map((one) => parseHeaderMailbox(one)?.address ?? ''),
    subject: textField(mail, 'subject'),
    text: textField(mail, 'text'),
    html: textField(mail, 'html'),
    files: [],
    report: isDeliveryReport(headers) ? { undelivered: null } : null,
    verdict: readAuthenticationResults(headers, 'amazonses.com'),
  }
}
