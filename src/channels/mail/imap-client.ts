// Reads a mailbox with imapflow. The build puts this file into a bundle of its own, which the service loads when a channel
// with the adapter `mail` exists.
import { isIP } from 'node:net'
import { ImapFlow } from 'imapflow'

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
  /** The first bytes of a mail; null if it was deleted. Throws if the connection has ended. */
  readMail(uid: number, maxBytes: number): Promise<Buffer | null>
  /** Calls once with the next mail that arrives, or when the connection ends. The returned function cancels. */
  onNextMail(call: () => void): () => void
  /** Throws if the connection has ended. */
  requireOpen(): void
  close(): void
}

export interface MailboxEntry {
  uid: number
  size: number
  arrivedAt: Date
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

export async function openMailbox(login: ImapLogin): Promise<ImapMailbox> {
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
  try {
    await client.connect()
    const { uidValidity } = await client.mailboxOpen(login.mailbox, { readOnly: true })
    return createMailbox(client, String(uidValidity))
  } catch (error) {
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
    async readMail(uid, maxBytes) {
      const found = await client.fetchAll(String(uid), { uid: true, source: { maxLength: maxBytes } }, { uid: true })
      // A server may add responses without a source, which say that the flags of some mail have changed.
      const mail = found.find((one) => one.uid === uid && one.source)
      // On a connection that has ended nothing is found, and a mail that counts as deleted is never read again.
      if (!mail) requireOpen(client)
      return mail?.source ?? null
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
    close: () => client.close(),
  }
}

function requireOpen(client: ImapFlow): void {
  if (!client.usable) throw new Error('the connection to the mail server ended')
}

async function listEntries(client: ImapFlow, range: string | number[]): Promise<MailboxEntry[]> {
  const found = await client.fetchAll(range, { uid: true, size: true, internalDate: true }, { uid: true })
  if (found.length === 0) requireOpen(client)
  return found
    .map(({ uid, size = 0, internalDate }) => ({ uid, size, arrivedAt: new Date(internalDate ?? 0) }))
    .toSorted((a, b) => a.uid - b.uid)
}
