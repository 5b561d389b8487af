// Reads a mailbox with imapflow. The build puts this file into a bundle of its own, which the service loads when a channel
// with the adapter `mail` exists.
import { isIP } from 'node:net'
import { type FetchMessageObject, type FetchQueryObject, ImapFlow } from 'imapflow'

export interface ImapLogin {
  /** What to connect to. It was checked, so the name is not looked up again. */
  address: string
  /** The name in the server's certificate. */
  host: string
  port: number
  /** Encryption from the first byte; otherwise by STARTTLS, or not at all. Nothing is sent without encryption. */
  secure: boolean
  /** The only trusted certificate authority, in PEM; null: the usual ones. */
  ca: string | null
  username: string
  password: string
  mailbox: string
}

/** An open mailbox. It is read without marks on the mails. */
export interface ImapMailbox {
  /** A new value says that the UIDs of earlier times have no meaning any more. */
  uidValidity: string
  /** The mails with a higher UID, oldest first. */
  listAfter(uid: number): Promise<MailboxEntry[]>
  /** All mails that arrived since a time, and maybe earlier ones of the two days before, oldest first. */
  listSince(date: Date): Promise<MailboxEntry[]>
  /**
   * The first bytes of a mail, at most as many as `limitOf` its size; null if it was deleted. Throws if the server does not
   * hand it out, or the connection has ended.
   */
  readMail(uid: number, limitOf: (size: number) => number): Promise<StoredMail | null>
  /** Calls once with the next mail that arrives, or when the connection ends. The returned function cancels. */
  onNextMail(call: () => void): () => void
  /** Throws if the connection has ended. */
  requireOpen(): void
}

/** Without its size: to tell it, a server reads the mail, and a mail that it cannot read would hide all others. */
export interface MailboxEntry {
  uid: number
  arrivedAt: Date
}

/** A mail as the server has it, or its first bytes. */
export interface StoredMail {
  raw: Buffer
  /** Of the whole mail. */
  size: number
}

const CONNECT_TIMEOUT_MS = 20_000
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
/**
 * A search begins this much earlier than asked. Servers compare days in their own time zone, up to 12 hours behind UTC, and
 * imapflow asks those with the extension WITHIN for an age in rounded seconds.
 */
const SEARCH_MARGIN_MS = 24 * 3_600_000
/** Servers end an IDLE after half an hour, and network devices forget a quiet connection earlier. */
const MAX_IDLE_MS = 4 * 60_000

/** The connection is closed when the signal is aborted. */
export async function openMailbox(login: ImapLogin, signal: AbortSignal): Promise<ImapMailbox> {
  const client = new ImapFlow({
    host: login.address,
    port: login.port,
    ...(isIP(login.host) === 0 && { servername: login.host }),
    secure: login.secure,
    ...(!login.secure && { doSTARTTLS: true }),
    tls: { minVersion: 'TLSv1.2', ...(login.ca !== null && { ca: login.ca }) },
    auth: { user: login.username, pass: login.password },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: MAX_IDLE_MS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    maxLiteralSize: MAX_RESPONSE_BYTES,
    maxResponseSize: 2 * MAX_RESPONSE_BYTES,
    maxLineLength: MAX_RESPONSE_BYTES,
  })
  // An error without a listener would end the process. The next command or `requireOpen` reports it.
  client.on('error', () => {})
  const close = () => client.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect()
    const { uidValidity } = await client.mailboxOpen(login.mailbox, { readOnly: true })
    return createMailbox(client, String(uidValidity))
  } catch (error) {
    signal.removeEventListener('abort', close)
    client.close()
    throw error
  }
}

function createMailbox(client: ImapFlow, uidValidity: string): ImapMailbox {
  return {
    uidValidity,
    // A range such as `7:*` also matches the last mail if its UID is lower.
    listAfter: async (uid) => (await listEntries(client, `${uid + 1}:*`)).filter((entry) => entry.uid > uid),
    async listSince(date) {
      const since = new Date(date.getTime() - SEARCH_MARGIN_MS)
      const uids = await client.search({ since }, { uid: true })
      if (!uids) throw new Error('the mail server refused the search, or the connection ended')
      return uids.length === 0 ? [] : listEntries(client, uids)
    },
    async readMail(uid, limitOf) {
      const found = await fetchMail(client, uid, { size: true })
      if (found.length === 0) return null
      const size = found.find((one) => one.size !== undefined)?.size ?? 0
      const read = await fetchMail(client, uid, { source: { maxLength: limitOf(size) } })
      const raw = read.find(({ source }) => source)?.source
      // A mail that counts as deleted is never read again.
      if (!raw) throw new Error('the mail server sent nothing of the mail')
      return { raw, size }
    },
    onNextMail(call) {
      client.once('exists', call)
      client.once('close', call)
      // Ends with the next command, or with the connection.
      client.idle().catch(() => {})
      return () => {
        client.off('exists', call)
        client.off('close', call)
      }
    },
    requireOpen: () => requireOpen(client),
  }
}

function requireOpen(client: ImapFlow): void {
  if (!client.usable) throw new Error('the connection to the mail server ended')
}

/** All that a server says of a mail, which may also be that its flags have changed; nothing if the mail was deleted. */
async function fetchMail(client: ImapFlow, uid: number, query: FetchQueryObject): Promise<FetchMessageObject[]> {
  const found = await client.fetchAll(String(uid), { uid: true, ...query }, { uid: true })
  // On a connection that has ended nothing is found.
  if (found.length === 0) requireOpen(client)
  return found.filter((one) => one.uid === uid)
}

async function listEntries(client: ImapFlow, range: string | number[]): Promise<MailboxEntry[]> {
  const found = await client.fetchAll(range, { uid: true, internalDate: true }, { uid: true })
  if (found.length === 0) requireOpen(client)
  return found
    .map(({ uid, internalDate }) => ({ uid, arrivedAt: new Date(internalDate ?? 0) }))
    .toSorted((a, b) => a.uid - b.uid)
}
