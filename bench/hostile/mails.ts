import { setTimeout as pause } from 'node:timers/promises'
import type { Target } from '../load/statistics.ts'
import { mailboxConfig, type MailServer } from '../../test/mail/mail-server.ts'
import { callApi, createChannel } from './channels.ts'
import { type HostileInput, joinBytes, MB, repeatText } from './input.ts'

const RECEIVE_TIMEOUT_MS = 90_000

/** Mails in a mailbox that the service reads by IMAP. */
export async function listMailInputs(server: Target, mailServer: MailServer): Promise<HostileInput[]> {
  const config = mailboxConfig(mailServer)
  await createChannel(server, { adapter: 'mail', config, secret: mailServer.password })
  const mail = (name: string, build: () => Buffer): HostileInput => ({
    name: `mailbox, ${name}`,
    build,
    async send(service, bytes) {
      const known = await countThreads(service)
      mailServer.putMail(bytes)
      const end = performance.now() + RECEIVE_TIMEOUT_MS
      while ((await countThreads(service)) === known) {
        if (performance.now() > end) throw new Error(`the service did not receive the mail: ${name}`)
        await pause(100)
      }
      return 'received'
    },
  })
  const pdf = (megabytes: number) => () => {
    const lines = repeatText(`${'QUJD'.repeat(19)}\r\n`, megabytes * MB)
    const head = 'Content-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64\r\n'
    return joinBytes(mailHead(MIXED), `--b\r\n\r\nSee the file.\r\n--b\r\n${head}\r\n`, lines, '\r\n--b--\r\n')
  }
  return [
    mail('200,000 empty parts', () =>
      joinBytes(mailHead(MIXED), repeatText('--b\r\n\r\nx\r\n', 200_000 * 10), '--b--\r\n'),
    ),
    mail('2 MB of short lines', () => joinBytes(mailHead(), repeatText('on x\r\n', 2 * MB))),
    mail('1 MB of addresses in To', () =>
      joinBytes(mailHead(`To: ${'a@b.example, '.repeat(80_000)}a@b.example\r\n`), 'Hello'),
    ),
    mail('12 MB with a PDF', pdf(12)),
    mail('29 MB with a PDF', pdf(29)),
  ]
}

const MIXED = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n'
let mails = 0

/** Each mail is a new one, with a subject and so a thread of its own. */
const mailHead = (more = ''): string =>
  `From: Kim <kim@test.example>\r\nSubject: Mailbox ${++mails}\r\nMessage-ID: <b${mails}@test.example>\r\n${more}\r\n`

/** A mail that the service has received is in a thread. */
async function countThreads(server: Target): Promise<number> {
  const { data } = await callApi<{ data: unknown[] }>(server, 'GET', '/v1/threads?limit=200')
  return data.length
}
