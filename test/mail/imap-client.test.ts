import { describe, expect, onTestFinished, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { type ImapMailbox, openMailbox } from '../../src/customers/channels/mail/imap-client.ts'
import { deliverMail, startOwnMailServer } from './mailbox-app.ts'

const problem = mailServerProblem()

async function mailboxWithOneMail(): Promise<{ mailbox: ImapMailbox; close: () => void }> {
  const server = await startOwnMailServer()
  await deliverMail(server, { subject: 'Order', text: 'Where is it?' })
  await server.receivedMail(1)
  const { username, password, imapPort: port, ca } = server
  const login = { address: '127.0.0.1', host: 'localhost', port, secure: false, ca, username, password }
  const connection = new AbortController()
  const close = () => connection.abort()
  onTestFinished(close)
  return { mailbox: await openMailbox({ ...login, mailbox: 'INBOX' }, connection.signal), close }
}

describe.skipIf(problem !== null)(`an IMAP mailbox${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  test('a search by time finds every mail of that second', async () => {
    const { mailbox } = await mailboxWithOneMail()
    const [mail] = await mailbox.listAfter(0)
    const endOfSecond = new Date((mail?.arrivedAt.getTime() ?? Number.NaN) + 999)
    // An age in rounded seconds is too short in the first half of every second.
    await expect.poll(() => Date.now() % 1000, { interval: 10 }).toBeLessThan(200)
    expect((await mailbox.listSince(endOfSecond)).map(({ uid }) => uid)).toEqual([mail?.uid])
  })

  test('a mail is not taken for deleted if the connection has ended', async () => {
    const { mailbox, close } = await mailboxWithOneMail()
    const [{ uid } = { uid: 0 }] = await mailbox.listAfter(0)
    const limit = () => 1_000_000
    expect((await mailbox.readMail(uid, limit))?.raw.toString()).toContain('Where is it?')
    expect(await mailbox.readMail(uid + 1, limit)).toBeNull()
    close()
    await expect(mailbox.readMail(uid, limit)).rejects.toThrow('the connection to the mail server ended')
    await expect(mailbox.listAfter(0)).rejects.toThrow('the connection to the mail server ended')
    await expect(mailbox.listSince(new Date())).rejects.toThrow('the connection ended')
  })
})
