import { Problem } from '../../../platform/base/problem.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { parseUntrusted } from '../parsers/parse-untrusted.ts'
import type { ImapMailbox, StoredMail } from './imap-client.ts'
import type { MailboxCall } from './poll-mailbox.ts'
import { type MailContent, toHookContent } from './received-mail.ts'

const MAX_MAIL_BYTES = 30 * 1024 * 1024
/** A mail that is larger is received without its attachments, which may have any size. */
const MAX_CUT_MAIL_BYTES = 256 * 1024
const MAX_HEAD_BYTES = 64 * 1024

/** Null if the mail was deleted meanwhile. */
export const readMail = (mailbox: ImapMailbox, uid: number, onlyHead: boolean): Promise<StoredMail | null> =>
  mailbox.readMail(uid, (size) => (onlyHead ? MAX_HEAD_BYTES : isTooLarge(size) ? MAX_CUT_MAIL_BYTES : MAX_MAIL_BYTES))

const isTooLarge = (size: number): boolean => size > MAX_MAIL_BYTES

/**
 * Stores what a mail is for the service. Of a mail that cannot be read, or should not be, sender and subject are received,
 * so that a person looks into the mailbox.
 */
export async function receiveMail(
  ctx: Ctx,
  call: MailboxCall,
  uid: number,
  { raw, size }: StoredMail,
  onlyHead: boolean,
): Promise<void> {
  const options = { address: call.channel.address, trustedServer: call.config.trusted_server ?? null }
  // The thread may take the bytes of the mail.
  const head = copyHead(raw)
  const whole = onlyHead ? REPEATED_FAILURE : await parseUntrusted(ctx, 'mimeMail', raw, options).catch(describeFailure)
  const isUnread = typeof whole === 'string'
  const content = isUnread
    ? withNote(
        await parseUntrusted(ctx, 'mailHead', head, options).catch(toEmptyContent),
        `[This mail could not be read (${whole}). It is only in the mailbox.]`,
      )
    : isTooLarge(size)
      ? withNote(whole, `[The mail has ${toMebibytes(size)} MiB: its attachments are only in the mailbox.]`)
      : whole
  const { messages, undelivered = [] } = toHookContent(content)
  for (const message of messages) await call.receive(message)
  for (const report of undelivered) await call.reportUndelivered(report)
  if (isUnread) await reportUnreadMail(ctx, call, uid, whole)
}

export const REPEATED_FAILURE = 'earlier attempts to receive it have failed'

/** Without a working parser the mail is read again later. */
function describeFailure(error: unknown): string {
  if (error instanceof Problem && error.status >= 500) throw error
  return error instanceof Problem ? error.message : 'it is malformed'
}

/** For a mail of which not even the head can be read. */
function toEmptyContent(error: unknown): MailContent {
  if (error instanceof Problem && error.status >= 500) throw error
  return { messages: [], undelivered: [] }
}

function copyHead(raw: Buffer): Buffer {
  const ends = [raw.indexOf('\r\n\r\n'), raw.indexOf('\n\n')].filter((at) => at >= 0)
  return Buffer.from(raw.subarray(0, Math.min(MAX_HEAD_BYTES, ...ends)))
}

const toMebibytes = (bytes: number) => Math.round(bytes / 1024 / 1024)

/** A mail that cannot be read now never can, and must not stop the ones behind it. */
export async function reportUnreadMail(ctx: Ctx, call: MailboxCall, uid: number, reason: string): Promise<void> {
  ctx.world.log.warn({ channel: call.channel.id, uid, reason }, 'a mail was not read')
  await call.reportError(new Problem(422, `a mail could not be read and was left in the mailbox: ${reason}`))
}

const withNote = ({ messages, undelivered }: MailContent, note: string): MailContent => ({
  messages: messages.map((message) => ({ ...message, notes: [note], files: [] })),
  undelivered,
})
