import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import { tooLarge } from '../../../platform/base/problem.ts'
import type { MailAddress } from '../../../connections/mail/mail-address.ts'
import type { UndeliveredReport } from '../adapters/adapter.ts'
import { isDeliveryReport } from '../mail/automatic-mail.ts'
import { copyBytes, isInlineLogo, type MailContent, type ReceivedMail, toMailContent } from '../mail/received-mail.ts'
import { parseMessageIds } from '../mail/mail-headers.ts'
import { readAuthenticationResults } from '../mail/mail-verdict.ts'

const LIMITS = { maxNestingDepth: 50, maxHeadersSize: 512 * 1024, maxRfc822NestingDepth: 3 }
const MAX_PARTS = 1000
/** A line costs the parser the same with one byte as with a thousand. Attachments have lines of at least 60 bytes. */
const MAX_SHORT_LINES = 100_000
const USUAL_LINE_BYTES = 60

export interface MimeOptions {
  /** The channel's address. */
  address: string
  /** The server whose Authentication-Results count. */
  trustedServer: string | null
}

/** Throws if the mail is not readable, such as with thousands of parts. */
export async function parseMimeMail(raw: Buffer, options: MimeOptions): Promise<MailContent> {
  requireFewLines(raw)
  requireFewParts(raw)
  return readMail(raw, options)
}

/** Who wrote a mail about what, from its head. */
export function parseMailHead(head: Buffer, options: MimeOptions): Promise<MailContent> {
  return readMail(Buffer.concat([head, Buffer.from('\r\n\r\n')]), options)
}

async function readMail(raw: Buffer, { address, trustedServer }: MimeOptions): Promise<MailContent> {
  const mail = await parseMime(raw)
  const verdict = trustedServer === null ? null : readAuthenticationResults(mail.headers, trustedServer)
  return toMailContent({ address }, { ...mail, verdict })
}

function requireFewLines(raw: Buffer): void {
  const max = MAX_SHORT_LINES + raw.length / USUAL_LINE_BYTES
  let lines = 0
  for (let at = raw.indexOf(10); at !== -1; at = raw.indexOf(10, at + 1))
    if (++lines > max) throw tooLarge('the mail has too many lines')
}

/** Counts the lines with a boundary that occurs somewhere in the mail, so that every part is counted. */
function requireFewParts(raw: Buffer): void {
  const text = raw.toString('latin1')
  for (const [field] of text.matchAll(CONTENT_TYPE))
    if (UNUSUAL_BOUNDARY.test(field)) throw tooLarge('the mail has a boundary of an unusual form')
  const boundaries = new Set(Array.from(text.matchAll(BOUNDARY), ([, quoted, bare]) => `--${quoted ?? bare}`))
  let parts = 0
  for (const [line] of text.matchAll(/^--[^\r\n]{1,72}/gm))
    if (boundaries.has(line.trimEnd()) && ++parts > MAX_PARTS) throw tooLarge('the mail has too many parts')
}

/** A field with its continuation lines. A text may have such a line as well, but hardly a boundary in it. */
const CONTENT_TYPE = /^content-type[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/gim

/** In pieces, encoded, escaped, folded or too long: its parts could not be counted. */
const UNUSUAL_BOUNDARY =
  /\bboundary\*\d*\*?\s*=|\bboundary\s*=\s*(?:"[^"\r\n\\]{71}|"[^"\r\n\\]{0,70}[\r\n\\]|[^\s;"]{71})/i

const BOUNDARY = /\bboundary\s*=\s*(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/gi

/** Reads all parts of a mail, whatever their number. */
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
    files: email.attachments.filter(isShownAsFile).map(toFileBytes),
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

const toFileBytes = (attachment: Attachment) => ({
  name: attachment.filename ?? defaultName(attachment.mimeType),
  contentType: attachment.mimeType,
  bytes: copyBytes(toBuffer(attachment)),
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
