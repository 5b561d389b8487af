import { describe, expect, test } from 'vitest'
import { gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { anyStore } from '../stores.ts'
import { openFakeSmtpServer } from './fake-smtp-server.ts'
import { MAIL, mailApp, sendMail, startMail } from './mail-app.ts'

const relayConfig = (port: number) => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port,
  require_tls: false,
  from: 'Desk <desk@test.example>',
})

anyStore((store) => {
  test('a mail with an invalid field is a 400 before a person is asked', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp(store, relayConfig(server.port))
    const task = await startMail(app, { ...MAIL, subject: 'Hello\r\nBcc: all@test.example' })
    const { output } = await app.finished(task.id)
    expect(JSON.stringify(output)).toContain("field 'subject' must not contain line breaks")
    expect((await app.call('GET', '/v1/approvals')).body.data).toEqual([])
    expect(server.connections()).toBe(0)
  })

  test('a mail server without a username needs no secret, and one with a username does', async () => {
    const app = await mailApp(store, relayConfig(25))
    const create = async (name: string, config: object) =>
      (await app.call('POST', '/v1/connections', { kind: 'email', name, config })).body.status
    expect(await create('relay', relayConfig(25))).toBe('connected')
    expect(await create('account', { ...relayConfig(25), username: 'desk' })).toBe('needs_secret')
    expect(await create('from-blueprint', { provider: 'smtp' })).toBe('needs_secret')
  })

  test('the person who approves sees the sender of the connection, and an agent cannot choose it', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp(store, relayConfig(server.port))
    const task = await startMail(app, { ...MAIL, from: 'ceo@test.example' })
    await app.events(task.id, { until: ({ event }) => event === 'approval.requested' })
    const [approval] = (await app.call('GET', '/v1/approvals')).body.data
    expect(approval.preview).toEqual({ ...MAIL, from: 'Desk <desk@test.example>' })
    expect(approval.text).toBe(`mail: send a mail to ${[MAIL.to].flat()[0]}`)
  })

  test('an edit that makes the mail invalid is a 400, and a valid edit is sent', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp(store, relayConfig(server.port))
    const task = await startMail(app, MAIL)
    const events = await app.events(task.id, { until: ({ event }) => event === 'approval.requested' })
    const path = `/v1/approvals/${events.at(-1)?.data.data.approval_id}/approve`
    expect(await app.call('POST', path, { edited: { to: 'a@b.example, c@d.example' } })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("field 'to' must be one mail address") },
    })
    expect((await app.call('POST', path, { edited: { to: 'other@test.example' } })).status).toBe(200)
    expect((await app.finished(task.id)).output).toMatchObject({ ok: true, edited: true })
    expect(server.received).toContain('RCPT TO:<other@test.example>')
    expect(server.received).not.toContain('RCPT TO:<agent@test.example>')
  })
})

describe('names and config', () => {
  test.each(['mail:send', 'mail', 'MAIL:send'])('the capability %s sends a mail', async (action) => {
    const server = await openFakeSmtpServer()
    const app = await mailApp('sqlite', relayConfig(server.port))
    const task = await startMail(app, MAIL, action)
    const events = await app.events(task.id, { until: ({ event }) => event === 'approval.requested' })
    await app.call('POST', `/v1/approvals/${events.at(-1)?.data.data.approval_id}/approve`, {})
    expect((await app.finished(task.id)).output).toMatchObject({ ok: true })
  })

  test('another capability of a mail connection is refused', async () => {
    const app = await mailApp('sqlite', relayConfig(1))
    const task = await startMail(app, MAIL, 'mail:delete')
    const { output } = await app.finished(task.id)
    expect(JSON.stringify(output)).toContain("connection 'mail' has no tool 'mail:delete': it has mail:send")
  })

  test('a connection with an unknown provider is a 400', async () => {
    const app = await mailApp('sqlite', relayConfig(1))
    const input = { kind: 'email', name: 'other', config: { provider: 'pigeon' } }
    expect(await app.call('POST', '/v1/connections', input)).toMatchObject({
      status: 400,
      body: { error: "field 'config.provider' must be one of smtp, postmark, mailgun, sendgrid, resend" },
    })
  })

  test('a mail that the connection could not send is a 400 before a person is asked', async () => {
    const app = await mailApp('sqlite', { ...relayConfig(1), port: 70_000 })
    const { output } = await app.finished((await startMail(app, MAIL)).id)
    expect(JSON.stringify(output)).toContain("config 'port' must be at most 65535")
  })

  test('missing config is a warning when the connection is created', async () => {
    const app = await mailApp('sqlite', relayConfig(1))
    const create = async (name: string, config: object) =>
      (await app.call('POST', '/v1/connections', { kind: 'email', name, config })).body.warnings
    expect(await create('one', { provider: 'mailgun' })).toEqual(['config.from is missing', 'config.domain is missing'])
    expect(await create('two', {})).toEqual(['config.api_url is missing'])
  })

  test('a mail is stored in the thread of its task', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp('sqlite', relayConfig(server.port), {
      wedges: {
        ...gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'mail:send' }] } }),
        'gate/rehearsals/act.json': [
          { call: { tool: 'act', input: { connection: 'mail', capability: 'mail:send', payload: MAIL } } },
          { output: { done: true } },
        ],
      },
    })
    const channel = { connection_id: app.connectionId, address: 'help@test.example', wedge: 'gate', task_type: 'act' }
    const { id } = (await app.call('POST', '/v1/channels', channel)).body
    const message = { from: { handle: 'agent@test.example', name: 'A' }, body: 'Where is it?' }
    const inbound = (await app.call('POST', `/v1/channels/${id}/inbound`, message)).body
    await app.finished(inbound.task_id)
    const { messages } = (await app.call('GET', `/v1/threads/${inbound.thread_id}`)).body
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['Where is it?', 'It left today.'])
  })

  test('the result of a mail contains a Message-ID with the id of the approval', async () => {
    const server = await openFakeSmtpServer()
    const app = await mailApp('sqlite', relayConfig(server.port))
    const { approvalId, output } = await sendMail(app, MAIL)
    const message_id = `<${approvalId}@test.example>`
    expect(output).toMatchObject({ result: { message_id } })
    expect(server.received.join('\n')).toContain(`Message-ID: ${message_id}`)
  })
})
