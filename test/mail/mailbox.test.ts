import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { startApp } from '../../src/server/app.ts'
import { WorkerThread } from '../../src/platform/ctx/worker-thread.ts'
import { advanceUntilSettled } from '../approvals/decisions/gated-app.ts'
import { anyStore } from '../stores.ts'
import { mailApp } from './mail-app.ts'
import {
  createMailChannel,
  deliverMail,
  type MailboxApp,
  mailboxApp,
  passTimeUntil,
  readThread,
  REPLY_WEDGE,
  startOwnMailServer,
  submissionConfig,
  threadsUntil,
} from './mailbox-app.ts'
import { mailboxConfig } from './mail-server.ts'
import { onlyInMatrix } from '../matrix.ts'

const SET_ASIDE = expect.stringMatching(/^\[This mail could not be read \(earlier attempts .* have failed\)/)

const problem = mailServerProblem()

const readChannel = async (app: MailboxApp) => (await app.call('GET', `/v1/channels/${app.channel}`)).body

const countMessages = (threads: { message_count: number }[]) =>
  threads.reduce((sum, { message_count }) => sum + message_count, 0)

/** The texts that clients wrote, in the order of the alphabet. */
async function inboundTexts(app: MailboxApp): Promise<string[]> {
  const query = app.ctx.db.selectFrom('messages').select('body').where('direction', '=', 'inbound')
  return (await query.execute()).map(({ body }) => body).toSorted()
}

describe.skipIf(problem !== null)(`a mailbox on Dovecot${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  anyStore((store) => {
    test('a mail with an attachment becomes a message with a file, and starts a task', async () => {
      const app = await mailboxApp(store)
      const attachments = [{ filename: 'Größe.txt', content: 'large' }]
      const mail = { subject: 'Order', text: 'Where is it?', messageId: '<k1@test.example>', attachments }
      await deliverMail(app.server, mail)
      const [thread] = await threadsUntil(app, (all) => countMessages(all) >= 1)
      const { messages } = await readThread(app, thread?.id ?? '')
      expect(messages[0]).toMatchObject({
        direction: 'inbound',
        from: { handle: 'kim@test.example', name: 'Kim' },
        body: 'Where is it?',
        subject: 'Order',
        external_id: '<k1@test.example>',
        files: [{ name: 'Größe.txt', size: 5 }],
      })
      expect((await app.finished(messages[0].task_id)).output).toMatchObject({ reply: 'You wrote: Where is it?' })
      expect(await readChannel(app)).toMatchObject({ last_error: null, has_secret: true, hook_url: null })
    })

    test('mails of one conversation are one thread, and the next mail arrives without a pause', async () => {
      const app = await mailboxApp(store)
      await deliverMail(app.server, { subject: 'Order', text: 'one', messageId: '<k1@test.example>' })
      await threadsUntil(app, (all) => countMessages(all) >= 1)
      // The clock stands still from here on, so only the notification of the mail server can lead to these mails.
      await deliverMail(app.server, { subject: 'Something else', text: 'two', inReplyTo: '<k1@test.example>' })
      await deliverMail(app.server, { subject: 'Other matter', text: 'three' })
      await deliverMail(app.server, { subject: 'AW: Re: ORDER', text: 'four' })
      await expect.poll(() => inboundTexts(app)).toEqual(['four', 'one', 'three', 'two'])
      const threads = (await app.call('GET', '/v1/threads')).body.data
      const texts: string[][] = []
      for (const { id } of threads) {
        const { messages } = await readThread(app, id)
        texts.push(
          messages.flatMap((one: { direction: string; body: string }) =>
            one.direction === 'inbound' ? [one.body] : [],
          ),
        )
      }
      expect(texts.map((one) => one.toSorted().join(' ')).toSorted()).toEqual(['four one two', 'three'])
    })

    test('a channel whose password is wrong says so, and works once it is right', async () => {
      const app = await mailboxApp(store)
      const wrong = 'wr0ng-password-4711'
      await app.call('POST', `/v1/channels/${app.channel}/secret`, { value: wrong })
      await app.call('PUT', `/v1/channels/${app.channel}`, {
        config: { ...mailboxConfig(app.server), mailbox: 'INBOX' },
      })
      const error = 'the mail server does not accept the username or the password'
      await passTimeUntil(app, async () => (await readChannel(app)).last_error === error)
      await app.call('POST', `/v1/channels/${app.channel}/secret`, { value: app.server.password })
      await deliverMail(app.server, { text: 'now' })
      await threadsUntil(app, (all) => countMessages(all) >= 1)
      expect(await readChannel(app)).toMatchObject({ last_error: null })
      expect(app.logged.join('\n')).not.toContain(wrong)
    })
  })

  test('an automatic reply is stored and starts no task, and a mail server is no client', async () => {
    const app = await mailboxApp('sqlite')
    await deliverMail(app.server, { text: 'I am away.', headers: { 'Auto-Submitted': 'auto-replied' } })
    await deliverMail(app.server, { from: 'MAILER-DAEMON@test.example', text: 'Something failed.' })
    await deliverMail(app.server, { from: 'Lee <lee@test.example>', text: 'A person' })
    await threadsUntil(app, (all) => countMessages(all) >= 2)
    const texts = await app.ctx.db.selectFrom('messages').select(['body', 'task_id', 'is_automatic']).execute()
    expect(texts.filter(({ task_id }) => task_id === null)).toEqual([
      { body: 'I am away.', task_id: null, is_automatic: 1 },
    ])
    const clients = (await app.call('GET', '/v1/clients')).body.data.map((one: { handles: string[] }) => one.handles[0])
    expect(clients.toSorted()).toEqual(['kim@test.example', 'lee@test.example'])
  })

  test('a mail that cannot be parsed and one that is too large do not stop the others', async () => {
    const app = await mailboxApp('sqlite')
    const deep = Array.from(
      { length: 100 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    )
    const envelope = { from: 'kim@test.example', to: 'agent@test.example' }
    await deliverMail(app.server, { envelope, raw: `From: kim@test.example\r\nSubject: Deep\r\n${deep.join('')}` })
    const attachments = [{ filename: 'film.mp4', content: Buffer.alloc(31 * 1024 * 1024) }]
    await deliverMail(app.server, { subject: 'Film', text: 'Look at this', attachments })
    await deliverMail(app.server, { subject: 'After', text: 'still here' })
    await threadsUntil(app, (all) => all.length === 3)
    expect(await inboundTexts(app)).toEqual([
      expect.stringMatching(/^Look at this\n\n\[The mail has \d+ MiB: its attachments are only in the mailbox\.\]$/),
      '[This mail could not be read (it is malformed). It is only in the mailbox.]',
      'still here',
    ])
  })

  test.each([
    ['stopped twice', { crashes: 2, failures: 0 }, [SET_ASIDE, 'after']],
    ['stopped three times', { crashes: 3, failures: 0 }, ['after']],
    ['failed ten times', { crashes: 0, failures: 10 }, [SET_ASIDE, 'after']],
    ['failed eleven times', { crashes: 0, failures: 11 }, ['after']],
  ])('a mail at which the service %s is not read as a whole again', async (_, counts, texts) => {
    const app = await mailboxApp('sqlite')
    await deliverMail(app.server, { text: 'first' })
    await threadsUntil(app, (all) => countMessages(all) >= 2)
    const channels = app.ctx.db.selectFrom('channels').select('progress')
    const progress = JSON.parse((await channels.executeTakeFirstOrThrow()).progress ?? '')
    const attempts = { uid: progress.uid + 1, ...counts }
    await app.ctx.db
      .updateTable('channels')
      .set({ progress: JSON.stringify({ ...progress, attempts }) })
      .execute()
    // The poll starts again with the stored progress, as in another process.
    await app.call('PUT', `/v1/channels/${app.channel}`, { settle_s: 1 })
    await app.clock.advance(10_000)
    await deliverMail(app.server, { subject: 'Fatal', text: 'fatal' })
    await deliverMail(app.server, { subject: 'After', text: 'after' })
    await passTimeUntil(app, async () => (await inboundTexts(app)).includes('after'))
    expect(await inboundTexts(app)).toEqual([...texts, 'first'])
    expect(app.logged.join('\n')).toContain('"msg":"a mail was not read"')
  })

  onlyInMatrix(() => {
    test('a mail that the server cannot read does not stop those behind it', async () => {
      const app = await mailboxApp('sqlite')
      await threadsUntil(app, () => true)
      app.server.putMail(Buffer.from('From: kim@test.example\r\nSubject: Damaged\r\n\r\nlost\r\n'), 0)
      await deliverMail(app.server, { subject: 'After', text: 'after' })
      await passTimeUntil(app, async () => (await inboundTexts(app)).includes('after'))
      expect(await inboundTexts(app)).toEqual(['after'])
      expect(app.logged.join('\n')).toContain('"msg":"a mail was not read"')
    })

    test('a mail that arrives while the parser is not available is received later', async () => {
      const app = await mailboxApp('sqlite')
      const working = app.ctx.parserThreads
      app.ctx.parserThreads = { ...working, mails: new WorkerThread(join(app.dir, 'no-such-program.cjs')) }
      const text = 'word '.repeat(4_000).trim()
      await deliverMail(app.server, { subject: 'Long', text })
      await passTimeUntil(app, async () => (await readChannel(app)).last_error === 'the parser is not available')
      // Long enough for several attempts.
      await app.clock.advance(10 * 60_000)
      app.ctx.parserThreads = working
      await passTimeUntil(app, async () => (await inboundTexts(app)).length > 0)
      expect(await inboundTexts(app)).toEqual([text])
    })
  })

  test('mails that got new UIDs are not received again', async () => {
    const app = await mailboxApp('sqlite')
    await deliverMail(app.server, { text: 'one', messageId: '<k1@test.example>' })
    await threadsUntil(app, (all) => countMessages(all) >= 1)
    const before = (await app.ctx.db.selectFrom('channels').select('progress').executeTakeFirst())?.progress
    // Dovecot takes the present second as the new UIDVALIDITY.
    await expect.poll(() => Date.now() / 1000).toBeGreaterThan(Number(JSON.parse(before ?? '{}').uid_validity) + 1)
    app.server.forgetUids()
    await app.call('PUT', `/v1/channels/${app.channel}`, { config: { ...mailboxConfig(app.server), mailbox: 'INBOX' } })
    await deliverMail(app.server, { text: 'two', messageId: '<k2@test.example>' })
    await passTimeUntil(app, async () => (await inboundTexts(app)).includes('two'))
    expect(await inboundTexts(app)).toEqual(['one', 'two'])
    const after = (await app.ctx.db.selectFrom('channels').select('progress').executeTakeFirst())?.progress
    expect(JSON.parse(after ?? '{}').uid_validity).not.toBe(JSON.parse(before ?? '{}').uid_validity)
  })

  test('of two replicas one reads the mailbox, and the other goes on when it stops', async () => {
    const app = await mailboxApp('postgres')
    await threadsUntil(app, () => true)
    const other = await startApp({ ...app.ctx.config, port: 0 }, app.ctx.world)
    onTestFinished(() => advanceUntilSettled(app, other.stop()))
    for (const n of [1, 2, 3]) await deliverMail(app.server, { subject: `Mail ${n}`, text: `text ${n}` })
    await threadsUntil(app, (all) => countMessages(all) >= 3)
    const poller = async () => (await app.ctx.db.selectFrom('channels').select('poller').executeTakeFirst())?.poller
    const first = await poller()
    expect([app.ctx.replica, other.ctx.replica]).toContain(first)
    // The replica that reads the mailbox loses its claim to the other one, as if it had died.
    const second = first === app.ctx.replica ? other.ctx.replica : app.ctx.replica
    await app.ctx.db.updateTable('channels').set({ poller: second, poller_until: '2999-01-01T00:00:00.000Z' }).execute()
    await deliverMail(app.server, { subject: 'Mail 4', text: 'text 4' })
    await passTimeUntil(app, async () => (await inboundTexts(app)).length >= 4)
    expect(await inboundTexts(app)).toEqual(['text 1', 'text 2', 'text 3', 'text 4'])
    expect(await poller()).toBe(second)
  })

  test.each([
    ['with a certificate that is not trusted', { ca: undefined }, 'its certificate is not trusted'],
    ['without such a mailbox', { mailbox: 'Nowhere' }, 'the mail server has no such mailbox'],
    ['that does not listen', { port: 1 }, 'the connection to the mail server failed'],
  ])('a mail server %s is an error of the channel', async (_, change, error) => {
    const server = await startOwnMailServer()
    const config = { ...mailboxConfig(server), ...change }
    const env = { SVC_EGRESS_ALLOW: '127.0.0.1,::1,localhost' }
    const app = await mailApp('sqlite', submissionConfig(server), { env, wedges: REPLY_WEDGE })
    const channel = await createMailChannel(app, app.connectionId, { config })
    await app.call('POST', `/v1/channels/${channel}/secret`, { value: server.password })
    const mailbox = { ...app, channel, server }
    await passTimeUntil(mailbox, async () => String((await readChannel(mailbox)).last_error).includes(error))
  })
})

describe('a mail server', () => {
  async function openFakeImapServer(capabilities: string) {
    const received: string[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write(`* OK [CAPABILITY ${capabilities}] ready\r\n`)
      socket.on('data', (bytes) => {
        received.push(bytes.toString())
        const [tag = '', command = ''] = bytes.toString().split(' ')
        if (/^CAPABILITY/i.test(command)) socket.write(`* CAPABILITY ${capabilities}\r\n`)
        socket.write(`${tag} OK done\r\n`)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    return { port, received }
  }

  async function channelError(port: number, env: Record<string, string>): Promise<string> {
    const app = await mailApp(
      'sqlite',
      { provider: 'smtp', host: 'localhost', from: 'a@b.example' },
      { env, wedges: REPLY_WEDGE },
    )
    const config = { host: '127.0.0.1', port, secure: false, username: 'agent' }
    const channel = await createMailChannel(app, app.connectionId, { config })
    await app.call('POST', `/v1/channels/${channel}/secret`, { value: 'a-password' })
    const readError = async () => (await app.call('GET', `/v1/channels/${channel}`)).body.last_error
    await passTimeUntil(app, async () => ![null, 'the channel has no secret yet'].includes(await readError()))
    return readError()
  }

  test('without encryption gets no password', async () => {
    const server = await openFakeImapServer('IMAP4rev1 AUTH=PLAIN')
    const error = await channelError(server.port, { SVC_EGRESS_ALLOW: '127.0.0.1' })
    expect(error).toContain('the mail server offers no encryption')
    expect(server.received.join('')).not.toMatch(/LOGIN|AUTHENTICATE|a-password/)
  })

  test('at a private address is not called', async () => {
    const server = await openFakeImapServer('IMAP4rev1')
    const error = await channelError(server.port, { SVC_EGRESS_ALLOW: '' })
    expect(error).toBe(
      'the mail server cannot be used: destination is not allowed: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it',
    )
    expect(server.received).toEqual([])
  })
})
