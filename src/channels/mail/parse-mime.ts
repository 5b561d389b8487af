// Parses a mail with postal-mime. The build puts this file into a bundle of its own, which the service loads with the first
// mail that arrives as raw bytes.
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import type { MailAddress } from '../../connections/mail/mail-address.ts'
import { isDeliveryReport } from './automatic-mail.ts'
import { parseMessageIds } from './mail-headers.ts'
import { isInlineLogo, type ReceivedMail } from './received-mail.ts'

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024, maxRfc822NestingDepth: 3 }

/** Throws if the mail is not readable, such as with thousands of nested parts. */
export async function parseMime(raw: Buffer): Promise<Omit<ReceivedMail, 'verdict'>> {
  const email = await PostalMime.parse(raw, {
    ...LIMITS,
    attachmentEncoding: 'arraybuffer',
    forceRfc822Attachments: true,
  })
  const headers = email.headers.map(({ key, value }) => ({ name: key, value }))
  const isReport = isDeliveryReport(headers)
  return {
    headers,
    from: toMailAddress(email.from),
    replyTo: toMailAddress(email.replyTo?.[0]),
    recipients: listRecipients(email),
    subject: email.subject ?? null,
    text: email.text ?? null,
    html: email.html ?? null,
    files: isReport ? [] : email.attachments.filter(isShownAsFile).map(toIncomingFile),
    reportedIds: isReport ? email.attachments.flatMap(readReportedIds) : [],
  }
}

function toMailAddress(address: Address | undefined): MailAddress | null {
  const [first] = address?.group ?? [address]
  return first?.address ? { name: first.name ?? '', address: first.address } : null
}

/** Also the envelope, which the mail server writes into Delivered-To or X-Original-To. */
function listRecipients({ to = [], cc = [], headers }: Email): string[] {
  const envelope = headers.filter(({ key }) => ['delivered-to', 'x-original-to', 'envelope-to'].includes(key))
  const visible = [...to, ...cc].flatMap(({ address, group = [] }) => [address, ...group.map((one) => one.address)])
  return [...envelope.map(({ value }) => value.trim()), ...visible.filter((one) => one !== undefined)]
}

const toBuffer = ({ content }: Attachment): Buffer =>
  content instanceof ArrayBuffer ? Buffer.from(content) : Buffer.from(content)

const isShownAsFile = (attachment: Attachment): boolean =>
  attachment.related !== true || !isInlineLogo(attachment.mimeType, toBuffer(attachment).length)

const toIncomingFile = (attachment: Attachment) => ({
  name: attachment.filename ?? defaultName(attachment.mimeType),
  contentType: attachment.mimeType,
  async *open() {
    yield toBuffer(attachment)
  },
})

const defaultName = (mimeType: string): string =>
  mimeType === 'message/rfc822'
    ? 'message.eml'
    : `attachment.${/\/(?:x-)?([a-z0-9]{1,8})$/.exec(mimeType)?.[1] ?? 'bin'}`

/** The mail that a bounce is about comes as a whole, or only its headers. */
function readReportedIds(attachment: Attachment): string[] {
  if (!/^(?:message\/rfc822|text\/rfc822-headers|message\/global|message\/global-headers)$/.test(attachment.mimeType))
    return []
  const [head = ''] = toBuffer(attachment)
    .toString('latin1')
    .split(/\r?\n\r?\n/, 1)
  return parseMessageIds(/^message-id:(.*(?:\r?\n[ \t].*)*)/im.exec(head)?.[1] ?? null)
}
