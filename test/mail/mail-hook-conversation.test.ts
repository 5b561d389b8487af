import { createHmac } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { deleteExpiredRows } from '../../src/automation/retention/delete-expired-rows.ts'
import { createAndGetId } from '../customers/channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { eachStore, type StoreKind } from '../stores.ts'
import { mailApp } from './mail-app.ts'
import { readThread, REPLY_WEDGE } from './mailbox-app.ts'

const SIGNING_KEY = 'the-signing-key-of-mailgun'

/** A service with a Mailgun channel. Answers go to a recorder that has the form of a mail API. */
async function openMailgunApp(store: StoreKind, connection: Record<string, unknown>) {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  provider.respond = (_, response) => respondJson(response, 200, { id: 'queued' })
  const config = { base_url: provider.url, from: 'Desk <desk@shop.example>', ...connection }
  const app = await mailApp(store, config, { secret: 'api-key', wedges: REPLY_WEDGE })
  const addChannel = async (address: string) => {
    const binding = { connection_id: app.connectionId, address, wedge: 'reply', task_type: 'triage' }
    const id = await createAndGetId(app, '/v1/channels', { ...binding, adapter: 'mailgun' })
    await app.call('POST', `/v1/channels/${id}/secret`, { value: SIGNING_KEY })
    return id
  }
  const channel = await addChannel('help@shop.example')
  const deliver = (id: string, more: Record<string, string> = {}, key = SIGNING_KEY, to = channel) => {
    const timestamp = String(Math.floor(app.clock.now() / 1000))
    const token = `token-${id}`
    const signature = createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex')
    const headers = JSON.stringify([['Message-Id', `<${id}@example.com>`]])
    const fields = {
      timestamp,
      token,
      signature,
      from: 'Kim <kim@example.com>',
      recipient: 'help@shop.example',
    }
    const mail = { subject: 'Order', 'body-plain': 'Where?', 'message-headers': headers }
    return app.call('POST', `/v1/hooks/${to}`, undefined, {
      key: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      raw: new URLSearchParams({ ...fields, ...mail, ...more }).toString(),
    })
  }
  return { ...app, provider, channel, addChannel, deliver }
}

eachStore((store) => {
  test('a mail that the provider delivers fifty times at once is received and answered once', async () => {
    const app = await openMailgunApp(store, { provider: 'mailgun', domain: 'mg.shop.example' })
    const responses = await Promise.all(Array.from({ length: 50 }, () => app.deliver('k1')))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const receipts = new Set(responses.map(({ body }) => JSON.stringify(body)))
    expect(receipts.size).toBe(1)
    const { task_id, thread_id } = responses[0]?.body ?? {}
    await app.finished(task_id)
    const { messages } = await readThread(app, thread_id)
    expect(messages).toMatchObject([
      { direction: 'inbound', body: 'Where?', verdict: { spf: 'none', dkim: 'none', by: 'mailgun' } },
      { direction: 'outbound', body: 'You wrote: Where?', delivery: 'sent' },
    ])
    expect(app.provider.received).toHaveLength(1)
    expect((await app.deliver('k2', {}, 'wrong')).status).toBe(401)
  })
})

eachStore((store) => {
  test('a signed call of Mailgun counts once: again for itself, and not for another body, sender or channel', async () => {
    const app = await openMailgunApp(store, { provider: 'mailgun', domain: 'mg.shop.example' })
    const { body: first } = await app.deliver('k1')
    const others = [{ 'body-plain': 'Send money' }, { from: 'Eve <eve@example.com>' }, { recipient: 'a@shop.example' }]
    for (const changed of others) {
      const refused = await app.deliver('k1', changed)
      expect(refused).toMatchObject({
        status: 401,
        body: { error: 'the signed token of the call was used for another one' },
      })
    }
    const other = await app.addChannel('sales@shop.example')
    expect((await app.deliver('k1', {}, SIGNING_KEY, other)).status).toBe(401)
    expect((await app.deliver('k2', {}, SIGNING_KEY, other)).status).toBe(200)
    expect(await app.deliver('k1')).toMatchObject({ status: 200, body: first })
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(2)
    // After that time the call is refused for its age, so the token need not be kept.
    app.clock.jump(301_000)
    await deleteExpiredRows(app.ctx)
    const countTokens = async () => (await app.ctx.db.selectFrom('signed_tokens').selectAll().execute()).length
    expect(await countTokens()).toBe(2)
    app.clock.jump(300_000)
    await deleteExpiredRows(app.ctx)
    expect(await countTokens()).toBe(0)
  })

  test('of different calls with one signed token at once, the first one counts', async () => {
    const app = await openMailgunApp(store, { provider: 'mailgun', domain: 'mg.shop.example' })
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => app.deliver('k1', { 'body-plain': `Text ${n}` })),
    )
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
  })
})

/** What a provider got for the answer to the mail `<k1@example.com>`, by the names of its fields. */
async function sentFields(connection: Record<string, unknown>): Promise<Record<string, unknown>> {
  const app = await openMailgunApp('sqlite', connection)
  const { task_id, thread_id } = (await app.deliver('k1')).body
  await app.finished(task_id)
  const [, answer] = (await readThread(app, thread_id)).messages
  expect(answer).toMatchObject({ delivery: 'sent' })
  const [{ body, headers } = { body: '', headers: {} }] = app.provider.received
  const fields: Record<string, unknown> = String(headers['content-type']).startsWith('application/json')
    ? JSON.parse(body)
    : Object.fromEntries(new URLSearchParams(body))
  return { ...fields, external_id: answer.external_id }
}

const REPLY_TO = expect.stringMatching(/^help\+t_[0-9a-f]{32}@shop\.example$/)
const MESSAGE_ID = expect.stringMatching(/^<apr_[^@]+@shop\.example>$/)
const THREAD_HEADERS = {
  'In-Reply-To': '<k1@example.com>',
  References: '<k1@example.com>',
  'Auto-Submitted': 'auto-replied',
}

test('an answer through Mailgun has the headers of the thread and an own Message-ID', async () => {
  expect(await sentFields({ provider: 'mailgun', domain: 'mg.shop.example' })).toMatchObject({
    from: 'Desk <desk@shop.example>',
    to: 'Kim <kim@example.com>',
    subject: 'Re: Order',
    text: 'You wrote: Where?',
    'h:Reply-To': REPLY_TO,
    'h:In-Reply-To': '<k1@example.com>',
    'h:References': '<k1@example.com>',
    'h:Auto-Submitted': 'auto-replied',
    'h:Message-Id': MESSAGE_ID,
    external_id: MESSAGE_ID,
  })
})

test('an answer through Postmark has the headers of the thread and an own Message-ID', async () => {
  const fields = await sentFields({ provider: 'postmark' })
  expect(fields).toMatchObject({ To: 'Kim <kim@example.com>', ReplyTo: REPLY_TO, external_id: MESSAGE_ID })
  const own = { ...THREAD_HEADERS, 'Message-ID': MESSAGE_ID, 'X-PM-KeepID': 'true' }
  expect(fields.Headers).toEqual(Object.entries(own).map(([Name, Value]) => ({ Name, Value })))
})

test('Resend writes its own Message-ID, so answers are recognised by their reply address', async () => {
  const fields = await sentFields({ provider: 'resend' })
  expect(fields).toMatchObject({ headers: THREAD_HEADERS, reply_to: REPLY_TO, external_id: null })
})

test('a connection that names no provider answers through the service of the channel', async () => {
  const fields = await sentFields({ domain: 'mg.shop.example' })
  expect(fields).toMatchObject({ from: 'Desk <desk@shop.example>', to: 'Kim <kim@example.com>', subject: 'Re: Order' })
})

test('an answer continues the References of the mail', async () => {
  const app = await openMailgunApp('sqlite', { provider: 'mailgun', domain: 'mg.shop.example' })
  const headers = {
    'Message-Id': '<k1@example.com>',
    References: '<a@x.example> <b@x.example>',
    'In-Reply-To': '<c@x.example>',
  }
  const { task_id } = (await app.deliver('k1', { 'message-headers': JSON.stringify(Object.entries(headers)) })).body
  await app.finished(task_id)
  const sent = new URLSearchParams(app.provider.received[0]?.body)
  expect(sent.get('h:References')).toBe('<a@x.example> <b@x.example> <c@x.example> <k1@example.com>')
  expect(sent.get('h:In-Reply-To')).toBe('<k1@example.com>')
})
