import { describe, expect, test } from 'vitest'
import { advanceUntilSettled } from '../approvals/decisions/gated-app.ts'
import { anyStore } from '../stores.ts'
import { type FakeSmtpServer, openFakeSmtpServer, type SmtpReaction } from './fake-smtp-server.ts'
import { MAIL, mailApp, readConnection, sendMail, testMailConnection } from './mail-app.ts'

/** The config of a local relay without encryption and without a login. */
const relayConfig = ({ port }: FakeSmtpServer) => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port,
  require_tls: false,
  from: 'desk@test.example',
})

anyStore((store) => {
  test('a mail server that dies after it has the mail is the outcome unknown', async () => {
    const server = await openFakeSmtpServer({ CONTENT: (socket) => socket.destroy() })
    const app = await mailApp(store, relayConfig(server))
    const { output, action } = await sendMail(app, MAIL)
    const error = 'the connection closed before the mail server confirmed the mail'
    expect(output).toMatchObject({ ok: false, status: null, error })
    expect(action).toMatchObject({ outcome: 'unknown' })
    expect(server.connections()).toBe(1)
  })
})

describe('outcomes', () => {
  const close: SmtpReaction = (socket) => socket.destroy()
  test.each<[string, Record<string, SmtpReaction>, object]>([
    ['an accepted mail is ok', {}, { outcome: 'ok', status: 200 }],
    ['a greeting with a refusal is failed', { GREETING: '554 no service' }, { outcome: 'failed', status: 503 }],
    ['a close before the greeting is failed', { GREETING: close }, { outcome: 'failed', status: null }],
    ['a refused sender is failed', { MAIL: '550 not you' }, { outcome: 'failed', status: 422 }],
    ['a sender who must log in is failed', { MAIL: '530 log in first' }, { outcome: 'failed', status: 401 }],
    ['a refused recipient is failed', { RCPT: '550 unknown' }, { outcome: 'failed', status: 422 }],
    ['a close at the recipient is failed', { RCPT: close }, { outcome: 'failed', status: null }],
    ['a refused DATA is failed', { DATA: '451 later' }, { outcome: 'failed', status: 422 }],
    ['a temporary refusal of the content is failed', { CONTENT: '451 later' }, { outcome: 'failed', status: 422 }],
    ['a refusal of the content is failed', { CONTENT: '554 spam' }, { outcome: 'failed', status: 422 }],
    ['a shutdown after the content is failed', { CONTENT: '421 bye' }, { outcome: 'failed', status: 422 }],
    ['a mail server that closes instead of QUIT is ok', { QUIT: close }, { outcome: 'ok', status: 200 }],
  ])('%s', async (_, reactions, expected) => {
    const server = await openFakeSmtpServer(reactions)
    const app = await mailApp('sqlite', relayConfig(server))
    expect((await sendMail(app, MAIL)).action).toMatchObject(expected)
  })

  test.each([
    ['before the content is failed', { RCPT: () => {} }, 'failed'],
    ['after the content is unknown', { CONTENT: () => {} }, 'unknown'],
  ])('a mail server that does not respond %s', async (_, reactions, outcome) => {
    const server = await openFakeSmtpServer(reactions)
    const app = await mailApp('sqlite', relayConfig(server))
    const { action, output } = await advanceUntilSettled(app, sendMail(app, MAIL))
    expect(output).toMatchObject({ error: 'the mail server did not respond in time' })
    expect(action).toMatchObject({ outcome })
  })

  test('a reply that contains the password is masked', async () => {
    const secret = 'echoed-p4ssword'
    const server = await openFakeSmtpServer({
      EHLO: '250-fake.example\r\n250 AUTH PLAIN',
      AUTH: '235 ok',
      MAIL: `550 not for ${secret}`,
    })
    const app = await mailApp('sqlite', { ...relayConfig(server), username: 'desk' }, { secret })
    const { output } = await sendMail(app, MAIL)
    expect(output).toMatchObject({ status: 422, result: { reply: '550 not for [secret]' } })
    expect(app.logged.join('\n')).not.toContain(secret)
  })
})

describe('encryption', () => {
  test('a mail server without STARTTLS is refused before the login', async () => {
    const server = await openFakeSmtpServer()
    const { require_tls: _, ...config } = relayConfig(server)
    const app = await mailApp('sqlite', { ...config, username: 'desk' }, { secret: 'a-password' })
    const error = 'the mail server refuses STARTTLS, and mail is not sent unencrypted'
    expect(await testMailConnection(app)).toMatchObject({ ok: false, error })
    expect((await sendMail(app, MAIL)).action).toMatchObject({ outcome: 'failed', error })
    expect(await readConnection(app)).toMatchObject({ last_error: error })
    expect(server.received.filter((line) => !/^(EHLO|STARTTLS)/.test(line))).toEqual([])
  })

  test('a mail server that does not speak TLS is refused with secure: true', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp('sqlite', { ...relayConfig(server), secure: true })
    expect(await testMailConnection(app)).toMatchObject({ ok: false })
    expect(server.received.join('')).not.toContain('EHLO')
  })
})
