import { z } from 'zod'
import { errorMessage } from '../../base/error-message.ts'
import type { JsonObject } from '../../base/json.ts'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { EgressError } from '../../egress/http-client.ts'
import { resolveAllowedAddress } from '../../egress/tcp-connection.ts'
import { validateFields } from '../../http/validate.ts'
import type { PollCall } from '../adapters/adapter.ts'
import type { ImapMailbox, MailboxEntry } from './imap-client.ts'
import { readAuthenticationResults } from './mail-verdict.ts'
import { type ReceivedMail, toIncomingMessage } from './received-mail.ts'

/** The config of a channel with the adapter `mail`. */
export const MailboxConfig = z.strictObject({
  host: z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be the name of the mail server'),
  port: z.number().int().min(1).max(65_535).exactOptional(),
  secure: z.boolean().exactOptional().meta({ description: 'Encryption from the first byte; false: by STARTTLS.' }),
  username: z.string().min(1).max(320),
  mailbox: z.string().min(1).max(200).exactOptional(),
  ca: z.string().max(100_000).exactOptional().meta({ description: 'The only trusted certificate authority, in PEM.' }),
  trusted_server: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be the name of the mail server')
    .exactOptional()
    .meta({ description: 'The server whose Authentication-Results are the verdict about the sender.' }),
})

/** A mail server may lose a notification, so new mails are also looked for in this interval. */
const POLL_INTERVAL_MS = 60_000
const MAX_MAIL_BYTES = 30 * 1024 * 1024
/** A mail that is larger is received without its attachments, which may have any size. */
const MAX_CUT_MAIL_BYTES = 256 * 1024

/** Receives the mails of a mailbox until the signal is aborted. Throws a `Problem` if the mailbox cannot be read. */
export async function pollMailbox(ctx: Ctx, call: PollCall, signal: AbortSignal): Promise<void> {
  const mailbox = await openChannelMailbox(ctx, call).catch(explainFailure)
  const close = () => mailbox.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    let progress = readProgress(call, mailbox)
    while (!signal.aborted) {
      progress = await receiveNewMails(ctx, call, mailbox, progress, signal)
      await waitForMail(ctx, mailbox, signal)
      if (!signal.aborted) mailbox.requireOpen()
    }
  } catch (error) {
    if (!signal.aborted) explainFailure(error)
  } finally {
    signal.removeEventListener('abort', close)
    mailbox.close()
  }
}

async function openChannelMailbox(ctx: Ctx, { channel, secret }: PollCall): Promise<ImapMailbox> {
  const config = validateFields(MailboxConfig, channel.config, 'config')
  if (secret === null) throw badRequest('the channel has no secret yet')
  const { host, secure = true, port = secure ? 993 : 143, username, mailbox = 'INBOX', ca = null } = config
  const address = await resolveAllowedAddress(ctx, host)
  const { openMailbox } = await import('./imap-client.ts')
  return openMailbox({ address, host, port, secure, ca, username, password: secret, mailbox })
}

/** How far a mailbox was read. Without a UID, the mails since the channel was created are received. */
interface MailboxProgress {
  uidValidity: string
  uid: number | null
}

function readProgress({ channel }: PollCall, { uidValidity }: ImapMailbox): MailboxProgress {
  const stored: JsonObject = channel.progress === null ? {} : JSON.parse(channel.progress)
  const isSame = stored.uid_validity === uidValidity && typeof stored.uid === 'number'
  return { uidValidity, uid: isSame ? Number(stored.uid) : null }
}

async function receiveNewMails(
  ctx: Ctx,
  call: PollCall,
  mailbox: ImapMailbox,
  progress: MailboxProgress,
  signal: AbortSignal,
): Promise<MailboxProgress> {
  const created = new Date(call.channel.created_at)
  const entries =
    progress.uid === null
      ? (await mailbox.listSince(created)).filter(({ arrivedAt }) => arrivedAt >= startOfSecond(created))
      : await mailbox.listAfter(progress.uid)
  let { uid } = progress
  for (const entry of entries) {
    if (signal.aborted) break
    await receiveMail(ctx, call, mailbox, entry)
    // A process that dies before this reads the mail again, and the second delivery changes nothing.
    uid = entry.uid
    await call.saveProgress({ uid_validity: progress.uidValidity, uid })
  }
  return { ...progress, uid }
}

/** Mail servers store the time of arrival without fractions of a second. */
const startOfSecond = (date: Date): Date => new Date(Math.floor(date.getTime() / 1000) * 1000)

async function receiveMail(ctx: Ctx, call: PollCall, mailbox: ImapMailbox, { uid, size }: MailboxEntry): Promise<void> {
  const isCut = size > MAX_MAIL_BYTES
  const raw = await mailbox.readMail(uid, isCut ? MAX_CUT_MAIL_BYTES : MAX_MAIL_BYTES)
  if (!raw) return
  const mail = await parseChannelMail(call, raw).catch(async (error: unknown) => {
    // A mail that cannot be parsed now never can, and must not stop the ones behind it.
    ctx.world.log.warn({ channel: call.channel.id, uid, error: errorMessage(error) }, 'a mail cannot be parsed')
    await call.reportError(new Problem(422, 'a mail in the mailbox cannot be parsed, and was left there'))
    return null
  })
  const message = mail && toIncomingMessage(call.channel.address, isCut ? withoutFiles(mail, size) : mail)
  if (message) await call.receive(message)
}

async function parseChannelMail({ channel }: PollCall, raw: Buffer): Promise<ReceivedMail> {
  const { parseMime } = await import('./parse-mime.ts')
  const mail = await parseMime(raw)
  const { trusted_server } = validateFields(MailboxConfig, channel.config, 'config')
  const verdict = trusted_server === undefined ? null : readAuthenticationResults(mail.headers, trusted_server)
  return { ...mail, verdict }
}

const withoutFiles = (mail: ReceivedMail, size: number): ReceivedMail => ({
  ...mail,
  text: `${mail.text ?? ''}\n\n[The mail has ${Math.round(size / 1024 / 1024)} MiB: its attachments are only in the mailbox.]`,
  files: [],
})

/** Resolves with the next mail, after the interval, or when the signal is aborted. */
function waitForMail(ctx: Ctx, mailbox: ImapMailbox, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const cancelMail = mailbox.onNextMail(finish)
    const cancelTimer = ctx.world.clock.after(POLL_INTERVAL_MS, finish)
    signal.addEventListener('abort', finish, { once: true })
    function finish() {
      cancelMail()
      cancelTimer()
      signal.removeEventListener('abort', finish)
      resolve()
    }
  })
}

/** A sentence for the person who set up the channel. Texts of the server are left out: they may repeat the password. */
function explainFailure(error: unknown): never {
  if (error instanceof Problem) throw error
  if (error instanceof EgressError) throw new Problem(502, `the mail server cannot be used: ${error.message}`)
  const [isLogin, isTls, isMissing, code] = ['authenticationFailed', 'tlsFailed', 'mailboxMissing', 'code'].map(
    (field): unknown => (error instanceof Error ? Reflect.get(error, field) : null),
  )
  if (isLogin === true) throw new Problem(502, 'the mail server does not accept the username or the password')
  if (isTls === true || (typeof code === 'string' && /CERT|TLS|SSL|ISSUER|SIGNATURE/.test(code)))
    throw new Problem(502, 'the mail server offers no encryption, or its certificate is not trusted (config.ca)')
  if (isMissing === true) throw new Problem(502, 'the mail server has no such mailbox (config.mailbox)')
  throw new Problem(502, `the connection to the mail server failed${typeof code === 'string' ? ` (${code})` : ''}`)
}
