import { createHash } from 'node:crypto'
import { formatMailAddress, type MailAddress, parseMailAddress } from '../../../connections/mail/mail-address.ts'
import type { AdapterChannel, HookContent, IncomingMessage, UndeliveredReport } from '../adapters/adapter.ts'
import { isAutomaticMail, isMailSystem } from './automatic-mail.ts'
import { htmlToText } from './html-to-text.ts'
import { findHeader, joinReferences, type MailHeaders, parseMessageIds } from './mail-headers.ts'
import { isFailedVerdict, type MailVerdict, toVerdictJson } from './mail-verdict.ts'
import { findReplyToken, isChannelAddress } from './reply-address.ts'
import { cutQuotedText } from './reply-text.ts'

/** A mail as it was received, the same for every provider. Its parts have any size; those of its `MailContent` are bounded. */
export interface ReceivedMail {
  headers: MailHeaders
  from: MailAddress | null
  replyTo: MailAddress | null
  /** Where it was sent to: the recipients of the headers and of the envelope, as far as known. */
  recipients: string[]
  subject: string | null
  text: string | null
  html: string | null
  files: FileBytes[]
  /** The mail is a report of a mail server (RFC 3464): what did not arrive, or null if nothing failed. */
  report: { undelivered: UndeliveredReport | null } | null
  verdict: MailVerdict | null
}

/** A file that came with the call or in the mail. The bytes are a buffer of their own, which can move to another thread. */
export interface FileBytes {
  name: string
  contentType: string
  bytes: Uint8Array<ArrayBuffer>
}

/** What a mail is for the service, as data. */
export interface MailContent {
  messages: MailMessage[]
  undelivered: UndeliveredReport[]
}

type MailMessage = Omit<IncomingMessage, 'files'> & { files: FileBytes[] }

/** The bytes in a buffer of their own: those of a small `Buffer` are a part of one that others use. */
export const copyBytes = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer)
    : Uint8Array.from(bytes)

/** Makes the files of the messages readable like those that are downloaded. */
export function toHookContent({ messages, undelivered }: MailContent): HookContent {
  return { messages: messages.map((message) => ({ ...message, files: message.files.map(openFile) })), undelivered }
}

const openFile = ({ bytes, ...head }: FileBytes) => ({
  ...head,
  async *open() {
    yield Buffer.from(bytes.buffer)
  },
})

/** No more is read of the text of a mail, or of its HTML, which may contain images. */
const MAX_SOURCE_CHARACTERS = 2_000_000
/** A longer text is cut before it is searched for quotes. */
const MAX_SEARCHED_CHARACTERS = 200_000
const MAX_BODY_CHARACTERS = 100_000
const MAX_SUBJECT_CHARACTERS = 2000
const MAX_EXTERNAL_ID_CHARACTERS = 512
const MAX_NAME_CHARACTERS = 200
const MAX_MAILBOX_CHARACTERS = 2000
const MAX_ADDRESS_CHARACTERS = 320

/** What a mail is for the service. A mail without a sender to answer to is left out. */
export function toMailContent({ address }: Pick<AdapterChannel, 'address'>, mail: ReceivedMail): MailContent {
  if (mail.report) return { messages: [], undelivered: limitReport(mail.report.undelivered) }
  const message = toIncomingMessage(address, mail)
  return { messages: message ? [message] : [], undelivered: [] }
}

/** A report may be about any number of mails, but a mail server sends one for each. */
const limitReport = (report: UndeliveredReport | null): UndeliveredReport[] =>
  report ? [{ ...report, externalIds: report.externalIds.slice(0, MAX_REPORTED_IDS) }] : []

const MAX_REPORTED_IDS = 5

/** The mailbox in a header, also if its name has a form that `parseMailAddress` refuses. */
export function parseHeaderMailbox(whole: string): MailAddress | null {
  const text = whole.slice(0, MAX_MAILBOX_CHARACTERS)
  const [, name = '', bracketed] = /^([^<]*)<([^<>]*)>/.exec(text) ?? []
  return parseMailAddress(text) ?? toNamed(name, parseMailAddress(bracketed ?? ''))
}

const toNamed = (name: string, mailbox: MailAddress | null): MailAddress | null =>
  mailbox && { ...mailbox, name: name.replaceAll('"', '').trim() }

function toIncomingMessage(channelAddress: string, mail: ReceivedMail): MailMessage | null {
  const found = findSender(channelAddress, mail)
  if (
    !found ||
    found.address.length > MAX_MAILBOX_CHARACTERS ||
    !parseMailAddress(found.address) ||
    isMailSystem(found.address)
  )
    return null
  const sender = { address: found.address, name: toHeaderName(found.name) }
  const subject =
    toStorableText((mail.subject ?? '').slice(0, 2 * MAX_SUBJECT_CHARACTERS))
      .trim()
      .slice(0, MAX_SUBJECT_CHARACTERS) || null
  const messageId = parseMessageIds(findHeader(mail.headers, 'message-id'))[0] ?? null
  const body = readBody(mail)
  const isOwn = isChannelAddress(channelAddress, sender.address)
  const earlierIds = findEarlierIds(mail)
  const references = joinReferences(earlierIds)
  return {
    externalId: toExternalId(messageId, mail, sender, body.text),
    from: { handle: sender.address, name: sender.name || null },
    body: body.text,
    subject,
    conversationKey: toConversationKey(subject),
    continues: { externalIds: earlierIds, replyToken: findReplyToken(mail.recipients) },
    address: {
      to: formatMailAddress(sender),
      ...(messageId !== null && { message_id: messageId }),
      ...(references !== '' && { references }),
    },
    files: [...body.files, ...mail.files.map(limitHead)],
    ...describeProof(mail, found),
    isAutomatic: isOwn || isAutomaticMail(mail.headers, subject),
  }
}

/** What is known about the sender. The verdict is about the address in From, so it says nothing about one in Reply-To. */
function describeProof(
  { from, verdict }: ReceivedMail,
  sender: MailAddress,
): Pick<MailMessage, 'verdict' | 'senderProof' | 'sentBy'> {
  const sentBy = from && from.address !== sender.address ? toStorableText(from.address) : null
  const hasFailed = sentBy !== null || (verdict !== null && isFailedVerdict(verdict))
  return {
    ...(verdict && { verdict: toVerdictJson(verdict) }),
    senderProof: hasFailed ? 'failed' : 'required',
    ...(sentBy !== null && { sentBy: sentBy.slice(0, MAX_ADDRESS_CHARACTERS) }),
  }
}

const limitHead = (file: FileBytes): FileBytes => ({
  ...file,
  name: file.name.slice(0, MAX_MAILBOX_CHARACTERS),
  contentType: file.contentType.slice(0, MAX_NAME_CHARACTERS),
})

/**
 * The person who wrote the mail, who also gets the answer. A mailing list or a form writes in its own name and puts the
 * person into Reply-To. Otherwise Reply-To does not count: it could lead answers away from the client who seems to ask.
 */
function findSender(channelAddress: string, { from, replyTo }: ReceivedMail): MailAddress | null {
  if (!from || !replyTo) return from
  const isRelay = isChannelAddress(channelAddress, from.address) || /^no-?reply@/i.test(from.address)
  return isRelay ? replyTo : from
}

/** A name that can be written into the header of the answer. Parts of emoji and other invisible characters cannot. */
const toHeaderName = (name: string): string =>
  name
    .slice(0, 10 * MAX_NAME_CHARACTERS)
    .toWellFormed()
    .replaceAll(/\p{C}/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS)
    .trim()

/** A text that is too long is cut, and attached as far as it is read. */
function readBody({ text, html }: ReceivedMail): { text: string; files: FileBytes[] } {
  const plain = (text ?? '').slice(0, MAX_SOURCE_CHARACTERS)
  const source = plain.trim() === '' ? htmlToText((html ?? '').slice(0, MAX_SOURCE_CHARACTERS)) : plain
  const whole = toStorableText(source).trim()
  const searched = whole.slice(0, MAX_SEARCHED_CHARACTERS).trim()
  const body = cutQuotedText(searched)
  // Below a quote or a signature that was found, nothing more is expected.
  const isWhole = searched.length === whole.length || body.length < searched.length
  if (isWhole && body.length <= MAX_BODY_CHARACTERS) return { text: body, files: [] }
  const file: FileBytes = {
    name: 'message.txt',
    contentType: 'text/plain; charset=utf-8',
    bytes: copyBytes(Buffer.from(isWhole ? body : whole)),
  }
  return { text: `${body.slice(0, MAX_BODY_CHARACTERS)}\n[The whole text is in message.txt.]`, files: [file] }
}

/** PostgreSQL cannot store NUL, and invisible characters can hide instructions for the agent. */
const toStorableText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '')

/** The Message-ID. A mail without one is recognised by what it contains. */
function toExternalId(messageId: string | null, mail: ReceivedMail, sender: MailAddress, body: string): string {
  if (messageId !== null && messageId.length <= MAX_EXTERNAL_ID_CHARACTERS) return messageId
  const date = findHeader(mail.headers, 'date')
  const content = JSON.stringify([messageId, sender.address, date, mail.subject, body])
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** Oldest first. */
function findEarlierIds({ headers }: ReceivedMail): string[] {
  const references = parseMessageIds(findHeader(headers, 'references'))
  return [...references, ...parseMessageIds(findHeader(headers, 'in-reply-to'))]
}

/** Mails with the same subject, apart from `Re:` and the like, are one conversation. */
function toConversationKey(subject: string | null): string {
  const base = (subject ?? '').replace(/^(?:\s*(?:re|aw|antw|sv|r|fwd?|wg|tr|rv|enc)\s*(?:\[\d+\]\s*)?:)+/i, '')
  return base.trim().replaceAll(/\s+/g, ' ').toLowerCase().slice(0, 200)
}

const MIN_INLINE_IMAGE_BYTES = 8 * 1024

/** Images that the text of a mail shows are left out if they are small: they are logos and counters. */
export const isInlineLogo = (contentType: string, size: number): boolean =>
  /^image\//i.test(contentType) && size < MIN_INLINE_IMAGE_BYTES
