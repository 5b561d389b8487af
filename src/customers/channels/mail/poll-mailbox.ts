import { z } from 'zod'
import type { JsonObject } from '../../../platform/base/json.ts'
import { badRequest, Problem } from '../../../platform/base/problem.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { EgressError } from '../../../platform/egress/http-client.ts'
import { resolveAllowedAddress } from '../../../platform/egress/tcp-connection.ts'
import type { PollCall } from '../adapters/adapter.ts'
import type { ImapMailbox } from './imap-client.ts'
import { limitServerWork, MailServerTooSlow, type ServerWork } from './mail-server-limit.ts'
import { StoreUnavailable } from '../../../platform/store/errors.ts'
import { readMail, receiveMail, REPEATED_FAILURE, reportUnreadMail } from './receive-mail.ts'

/** The config of a channel with the adapter `mail`. */
export interface MailboxConfig {
  host: string
  port?: number
  /** Encryption from the first byte; false: by STARTTLS. */
  secure?: boolean
  username: string
  /** The folder; `INBOX` unless set. */
  mailbox?: string
  /** The only trusted certificate authority, in PEM. */
  ca?: string
  /** The server whose Authentication-Results are the verdict about the sender. */
  trusted_server?: string
}

/** A mail server may lose a notification, so new mails are also looked for in this interval. */
const POLL_INTERVAL_MS = 60_000

/** Receives the mails of a mailbox until the signal is aborted. Throws a `Problem` if the mailbox cannot be read. */
export async function pollMailbox(ctx: Ctx, call: MailboxCall, signal: AbortSignal): Promise<void> {
  // Aborted when the poll ends, or when the server is too slow. Every call of the server ends with it.
  const connection = new AbortController()
  const close = () => connection.abort()
  signal.addEventListener('abort', close, { once: true })
  try {
    if (signal.aborted) return
    const mailbox = await openChannelMailbox(ctx, call, connection)
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
    close()
  }
}

/** A poll with the parsed config of its channel. */
export type MailboxCall = PollCall & { config: MailboxConfig }

const OPENING = { description: 'open the mailbox', maxMinutes: 2 }
/** Longer than most searches in a full mailbox take. */
const LISTING = { description: 'list the new mails', maxMinutes: 10 }
/** Enough for the largest mail at 50 KiB/s. */
const READING = { description: 'send a mail', maxMinutes: 10 }

/** A mailbox whose server has a limited time for each piece of work. */
async function openChannelMailbox(
  ctx: Ctx,
  { config, secret }: MailboxCall,
  connection: AbortController,
): Promise<ImapMailbox> {
  if (secret === null) throw badRequest('the channel has no secret yet')
  const { host, secure = true, port = secure ? 993 : 143, username, mailbox = 'INBOX', ca = null } = config
  const limit = <Result>(work: ServerWork, start: () => Promise<Result>): Promise<Result> =>
    limitServerWork(ctx.world.clock, connection, work, start)
  const opened = await limit(OPENING, async () => {
    const address = await resolveAllowedAddress(ctx, host, port)
    const { openMailbox } = await import('./imap-client.ts')
    const login = { address, host, port, secure, ca, username, password: secret, mailbox }
    return openMailbox(login, connection.signal)
  })
  return {
    ...opened,
    listAfter: (uid) => limit(LISTING, () => opened.listAfter(uid)),
    listSince: (date) => limit(LISTING, () => opened.listSince(date)),
    readMail: (uid, limitOf) => limit(READING, () => opened.readMail(uid, limitOf)),
  }
}

/** The earlier attempts to receive a mail that did not succeed. */
const mailAttempts = z.object({
  uid: z.number(),
  /** How often the process crashed meanwhile. Each attempt counts as a crash until it ends. */
  crashes: z.number(),
  /** How often an unknown error occurred. */
  failures: z.number(),
})
type MailAttempts = z.infer<typeof mailAttempts>

/** How far a mailbox was read. Without a UID, the mails since the channel was created are received. */
interface MailboxProgress {
  uidValidity: string
  uid: number | null
  /** Of the mail that is being received, or could not be received. */
  attempts: MailAttempts | null
}

function readProgress({ channel }: PollCall, { uidValidity }: ImapMailbox): MailboxProgress {
  const stored: JsonObject = channel.progress === null ? {} : JSON.parse(channel.progress)
  if (stored.uid_validity !== uidValidity) return { uidValidity, uid: null, attempts: null }
  const { data: attempts = null } = mailAttempts.safeParse(stored.attempts)
  return { uidValidity, uid: typeof stored.uid === 'number' ? stored.uid : null, attempts }
}

const saveProgress = (call: MailboxCall, { uidValidity, uid, attempts }: MailboxProgress): Promise<void> =>
  call.saveProgress({ uid_validity: uidValidity, uid, ...(attempts && { attempts }) })

async function receiveNewMails(
  ctx: Ctx,
  call: MailboxCall,
  mailbox: ImapMailbox,
  progress: MailboxProgress,
  signal: AbortSignal,
): Promise<MailboxProgress> {
  const created = new Date(call.channel.created_at)
  const entries =
    progress.uid === null
      ? (await mailbox.listSince(created)).filter(({ arrivedAt }) => arrivedAt >= startOfSecond(created))
      : await mailbox.listAfter(progress.uid)
  let received = progress
  for (const entry of entries) {
    if (signal.aborted) break
    await receiveOnce(ctx, call, mailbox, entry.uid, received, signal)
    // A process that dies before this reads the mail again, and the second delivery changes nothing.
    received = { ...received, uid: entry.uid, attempts: null }
    await saveProgress(call, received)
  }
  return received
}

/** Mail servers store the time of arrival without fractions of a second. */
const startOfSecond = (date: Date): Date => new Date(Math.floor(date.getTime() / 1000) * 1000)

/**
 * Receives one mail. If the process crashed twice while it did so, or failed many times for an unknown reason, the mail may
 * be the cause, and would stop the channel for ever: then only its head is read, and after one more failure nothing.
 */
async function receiveOnce(
  ctx: Ctx,
  call: MailboxCall,
  mailbox: ImapMailbox,
  uid: number,
  progress: MailboxProgress,
  signal: AbortSignal,
): Promise<void> {
  const attempts = progress.attempts?.uid === uid ? progress.attempts : { uid, crashes: 0, failures: 0 }
  const { crashes, failures } = attempts
  if (crashes > MAX_CRASHES || failures > MAX_FAILURES) return reportUnreadMail(ctx, call, uid, REPEATED_FAILURE)
  const onlyHead = crashes === MAX_CRASHES || failures === MAX_FAILURES
  const save = (changed: Partial<MailAttempts>) =>
    saveProgress(call, { ...progress, attempts: { ...attempts, ...changed } })
  try {
    const mail = await readMail(mailbox, uid, onlyHead)
    if (!mail) return
    await save({ crashes: crashes + 1 })
    await receiveMail(ctx, call, uid, mail, onlyHead)
  } catch (error) {
    const isUnknown = !signal.aborted && !isKnownFailure(error)
    await save({ failures: failures + (isUnknown ? 1 : 0) }).catch(() => {})
    throw error
  }
}

const MAX_CRASHES = 2
/** About half an hour with the pauses between the attempts; two hours if each attempt ends at the limit of 10 minutes. */
const MAX_FAILURES = 10

/** Not caused by the mail, such as a wrong setting of the channel or an unavailable database. */
const isKnownFailure = (error: unknown): boolean =>
  error instanceof Problem || error instanceof StoreUnavailable || error instanceof EgressError

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
  if (error instanceof MailServerTooSlow) throw new Problem(502, error.message)
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
