import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { runSmtpSession } from '../../src/connections/mail/smtp-client.ts'
import { anyStore } from '../stores.ts'
import { addFile } from '../work/files/add-file.ts'
import { MAIL, mailApp, readConnection, sendMail, testMailConnection } from './mail-app.ts'
import { type MailServer, startMailServer } from './mail-server.ts'

const problem = mailServerProblem()

describe.skipIf(problem !== null)(`mail through Postfix${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  let server: MailServer
  let received = 0
  beforeAll(async () => {
    server = await startMailServer()
  })
  afterAll(() => server?.stop())

  const config = () => ({
    provider: 'smtp',
    host: '127.0.0.1',
    port: server.submissionPort,
    username: server.username,
    from: 'Büro Nord <desk@test.example>',
    ca: server.ca,
  })

  test('an attachment arrives with its name, type and content', async () => {
    const app = await mailApp('sqlite', config(), { secret: server.password })
    const content = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7) % 256))
    const file = await addFile(app, 'Rechnung März.bin', content)
    const { approvalId, output } = await sendMail(app, { ...MAIL, attachments: [{ $file: file.id }] })
    expect(output).toMatchObject({ ok: true, payload: { attachments: [{ $file: file.id, sha256: file.sha256 }] } })
    received += 1
    const raw = (await server.receivedMail(received)).find((one) => one.includes(approvalId)) ?? ''
    const part = raw.split(/^--.*$/m).find((one) => one.includes('Content-Disposition: attachment')) ?? ''
    expect(part).toMatch(/^Content-Type: application\/octet-stream/m)
    expect(decodeURIComponent(part)).toContain("filename*0*=utf-8''Rechnung März.bin")
    const [, body = ''] = part.split(/\r?\n\r?\n/)
    expect(Buffer.from(body, 'base64')).toEqual(content)
  })

  anyStore((store) => {
    test('an approved mail arrives with its headers, umlauts and copies, and blind copies are not visible', async () => {
      const app = await mailApp(store, config(), { secret: server.password })
      const payload = {
        to: ['Jörg Müller <agent@test.example>'],
        cc: 'agent+copy@test.example',
        bcc: ['agent+blind@test.example'],
        subject: 'Grüße aus Köln, größer als 1 €',
        text: 'Schöne Grüße\n.\nEnde',
        html: '<p>Schöne Grüße</p>',
        reply_to: 'reply@test.example',
        headers: { 'In-Reply-To': '<first@test.example>', 'X-Order': 'A-1' },
      }
      const { approvalId, output, action } = await sendMail(app, payload)
      const message_id = `<${approvalId}@test.example>`
      expect(output).toMatchObject({ ok: true, status: 200, result: { message_id, rejected: [] } })
      expect(action).toMatchObject({ outcome: 'ok', connection: 'mail', action: 'mail:send' })
      received += 3
      const mails = await server.receivedMail(received)
      const raw = mails.find((one) => one.includes(message_id)) ?? ''
      expect(mails.filter((one) => one.includes(message_id))).toHaveLength(3)
      const [head = ''] = raw.split(/\r?\n\r?\n/, 1)
      expect(head).toMatch(/^To: =\?UTF-8\?Q\?J=C3=B6rg_M=C3=BCller\?= <agent@test\.example>$/m)
      expect(head).toMatch(/^From: =\?UTF-8\?Q\?B=C3=BCro_Nord\?= <desk@test\.example>$/m)
      expect(head).toMatch(/^Cc: agent\+copy@test\.example$/m)
      expect(head).toMatch(/^Reply-To: reply@test\.example$/m)
      expect(head).toMatch(/^In-Reply-To: <first@test\.example>$/m)
      expect(head).toMatch(/^X-Order: A-1$/m)
      expect(head).toMatch(/^Received: .*/m)
      expect(head).toContain('ESMTPSA')
      expect(head).toContain('Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln')
      const visible = mails.filter((one) => one.includes(message_id) && !one.includes('Delivered-To: agent+blind@'))
      for (const one of visible) expect(one).not.toContain('blind')
      expect(raw).toContain('multipart/alternative')
      expect(raw).toMatch(/^Sch=C3=B6ne Gr=C3=BC=C3=9Fe\r?\n\.\r?\nEnde$/m)
      expect(await readConnection(app)).toMatchObject({ last_error: null, last_ok_at: expect.any(String) })
    })

    test('a refused recipient is the outcome failed, and the connection still works', async () => {
      const app = await mailApp(store, config(), { secret: server.password })
      const { output, action } = await sendMail(app, { ...MAIL, to: 'someone@elsewhere.example' })
      expect(output).toMatchObject({ ok: false, status: 422, error: 'the mail server refused the mail' })
      expect(output).toMatchObject({ result: { reply: expect.stringContaining('Relay access denied') } })
      expect(action).toMatchObject({ outcome: 'failed' })
      expect(await readConnection(app)).toMatchObject({ last_error: null })
    })
  })

  test('a mail to a good and a bad recipient is sent, and the result names the refused one', async () => {
    const app = await mailApp('sqlite', config(), { secret: server.password })
    const to = ['agent@test.example', 'someone@elsewhere.example']
    const { output } = await sendMail(app, { ...MAIL, to })
    received += 1
    const rejected = [{ address: 'someone@elsewhere.example', reply: expect.stringContaining('554') }]
    expect(output).toMatchObject({ ok: true, result: { accepted: ['agent@test.example'], rejected } })
    await server.receivedMail(received)
  })

  test('a wrong password is a failing connection, and no log contains a password', async () => {
    const wrong = 'wr0ng-password-4711'
    const app = await mailApp('sqlite', config(), { secret: wrong })
    const error = 'the mail server does not accept the username or the password'
    const checked = `EHLO and AUTH at 127.0.0.1:${server.submissionPort}`
    expect(await testMailConnection(app)).toEqual({ ok: false, checked, status: null, error })
    const { output, action } = await sendMail(app, MAIL)
    expect(output).toMatchObject({ ok: false, status: 401, error })
    expect(action).toMatchObject({ outcome: 'failed' })
    expect(await readConnection(app)).toMatchObject({ last_error: error })
    const texts = [...app.logged, JSON.stringify(output), JSON.stringify(await readConnection(app))].join('\n')
    for (const secret of [wrong, Buffer.from(wrong).toString('base64')]) expect(texts).not.toContain(secret)
  })

  test('the test of a connection logs in and sends nothing', async () => {
    const app = await mailApp('sqlite', config(), { secret: server.password })
    expect(await testMailConnection(app)).toMatchObject({ ok: true, error: null })
    expect(await server.receivedMail(received)).toHaveLength(received)
  })

  test('a certificate that is not trusted is refused', async () => {
    const { ca: _, ...untrusted } = config()
    const app = await mailApp('sqlite', untrusted, { secret: server.password })
    expect(await testMailConnection(app)).toMatchObject({
      ok: false,
      error: expect.stringContaining('its certificate is not trusted (config.ca takes'),
    })
    expect((await sendMail(app, MAIL)).action).toMatchObject({ outcome: 'failed' })
  })

  test('a certificate for another host is refused', async () => {
    const socket = connect(server.submissionPort, '127.0.0.1')
    const session = { socket, tls: 'starttls', ca: server.ca, clientName: 'test.example', login: null } as const
    const result = await runSmtpSession({ ...session, host: 'mx.other.example' }, null)
    expect(result).toMatchObject({ step: 'connect', reply: null, isTlsFailure: true, contentSent: false })
  })

  test('without SVC_EGRESS_ALLOW a mail server at a private address is not called', async () => {
    const app = await mailApp(
      'sqlite',
      { ...config(), host: 'localhost' },
      {
        secret: server.password,
        env: { SVC_EGRESS_ALLOW: '' },
      },
    )
    const error =
      'destination is not allowed: its address is private or reserved, and SVC_EGRESS_ALLOW does not list it'
    expect(await testMailConnection(app)).toMatchObject({ ok: false, error })
    expect((await sendMail(app, MAIL)).output).toMatchObject({ ok: false, error })
  })
})
