// Parses a mail with postal-mime. The build puts this file into a bundle of its own, which the service loads with the first
// mail that arrives as raw bytes.
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import type { MailAddress } from '../../connections/mail/mail-address.ts'
import type { UndeliveredReport } from '../adapters/adapter.ts'
import { isDeliveryReport } from './automatic-mail.ts'
import { isInlineLogo } from './inline-image.ts'
import { parseMessageIds } from './mail-headers.ts'
import type { ReceivedMail } from './received-mail.ts'

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024, maxRfc822NestingDepth: 3 }

/** Throws if the mail is not readable, such as with thousands of nested parts. */
export async function parseMime(raw: Buffer): Promise<Omit<ReceivedMail, 'verdict'>> {
  const email = await PostalMime.parse(raw, {
    ...LIMITS,
    attachmentEncoding: 'arraybuffer',
    forceRfc822Attachments: true,
  })
  const headers = email.headers.map(({ key, value }) => ({ name: key, value }))
  return {
    headers,
    from: toMailAddress(email.from),
    replyTo: toMailAddress(email.replyTo?.[0]),
    recipients: listRecipients(email),
    subject: email.subject ?? null,
    text: email.text ?? null,
    html: email.html ?? null,
    files: email.attachments.filter(isShownAsFile).map(toIncomingFile),
    report: isDeliveryReport(headers) ? { undelivered: readReport(email.attachments) } : null,
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

/** A mail that is only late, or that was read, is not undelivered. */
function readReport(attachments: readonly Attachment[]): UndeliveredReport | null {
  const status = attachments.find(({ mimeType }) => /^message\/(?:global-)?delivery-status$/.test(mimeType))
  const fields = status ? toBuffer(status).toString('utf8').slice(0, MAX_STATUS_CHARACTERS) : ''
  if (!/^action:\s*failed/im.test(fields)) return null
  const [, diagnostic = ''] = /^diagnostic-code:(.*(?:\r?\n[ \t].*)*)/im.exec(fields) ?? []
  const [, code = ''] = /^status:\s*([\d.]+)/im.exec(fields) ?? []
  const reason = diagnostic
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON_CHARACTERS)
  return { externalIds: attachments.flatMap(readReportedIds), error: reason || `the mail was returned (${code})` }
}

const MAX_STATUS_CHARACTERS = 20_000
const MAX_REASON_CHARACTERS = 500

/** The mail that a bounce is about comes as a whole, or only its headers. */
function readReportedIds(attachment: Attachment): string[] {
  if (!/^(?:message\/(?:rfc822|global)(?:-headers)?|text\/rfc822-headers)$/.test(attachment.mimeType)) return []
  const [head = ''] = toBuffer(attachment)
    .toString('latin1')
    .split(/\r?\n\r?\n/, 1)
  return parseMessageIds(/^message-id:(.*(?:\r?\n[ \t].*)*)/im.exec(head)?.[1] ?? null)
}
