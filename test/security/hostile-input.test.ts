import { createHmac } from 'node:crypto'
import twilio from 'twilio'
import { describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import type { ChannelAdapter, HookCall, HookContent } from '../../src/customers/channels/adapters/adapter.ts'
import { CHANNEL_ADAPTERS } from '../../src/customers/channels/adapters/adapter-table.ts'
import { createBodyReader, parseUntrusted } from '../../src/customers/channels/parsers/parse-untrusted.ts'
import type { ParserThreads } from '../../src/platform/ctx/worker-thread.ts'
import { type AdapterTest, CHANNEL_SECRET, openAdapterTest } from '../customers/channels/adapters/adapter-fixtures.ts'
import { testApp } from '../app.ts'
import { mailboxApp, passTimeUntil } from '../mail/mailbox-app.ts'
import { CountedThreads, expectBounded, expectOutsideOfThisThread, unlessRefused } from './counted-threads.ts'
import { BODIES, FORMS, HTML, JSON_BODIES, MAILS, RAW_MAILS, TEXTS } from './hostile-shapes.ts'
import { IS_MATRIX, inMatrix } from '../matrix.ts'

/** A call of an adapter's provider with a body, signed as the provider does. */
type Sign = (app: AdapterTest, body: Buffer) => { headers: Record<string, string>; body: Buffer }

const hmac = (algorithm: string, ...parts: (string | Buffer)[]) => {
  const mac = createHmac(algorithm, CHANNEL_SECRET)
  for (const part of parts) mac.update(part)
  return mac
}

const nowOf = ({ ctx }: AdapterTest) => String(Math.floor(ctx.world.clock.now() / 1000))

const SIGN: Record<string, Sign> = {
  postmark: (_, body) => ({
    body,
    headers: { authorization: `Basic ${Buffer.from(`any:${CHANNEL_SECRET}`).toString('base64')}` },
  }),
  resend: (app, body) => {
    const time = nowOf(app)
    const mac = createHmac('sha256', Buffer.from(CHANNEL_SECRET, 'base64')).update(`msg_1.${time}.`).update(body)
    const signature = `v1,${mac.digest('base64')}`
    return { body, headers: { 'svix-id': 'msg_1', 'svix-timestamp': time, 'svix-signature': signature } }
  },
  slack: (app, body) => {
    const time = nowOf(app)
    const signature = `v0=${hmac('sha256', `v0:${time}:`, body).digest('hex')}`
    return { body, headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature } }
  },
  telegram: (_, body) => ({ body, headers: { 'x-telegram-bot-api-secret-token': CHANNEL_SECRET } }),
  widget: (_, body) => ({ body, headers: { origin: 'https://shop.example' } }),
}

/** Bodies in which a text is the message, for the adapters whose provider sends JSON. */
const MESSAGE_WITH: Record<string, (text: string) => object> = {
  postmark: (TextBody) => ({ FromFull: { Email: 'kim@example.com' }, TextBody }),
  resend: (email_id) => ({ type: 'email.received', data: { email_id } }),
  slack: (text) => ({
    type: 'event_callback',
    team_id: 'T1',
    event: { type: 'message', user: 'U1', channel: 'C1', ts: '1', text },
  }),
  telegram: (text) => ({ update_id: 1, message: { message_id: 1, chat: { id: 1 }, from: { id: 1 }, text } }),
  widget: (body) => ({ visitor: 'v'.repeat(20), body }),
}

/** Receives a call with this body; null if it was refused. */
function receive(app: AdapterTest, parserThreads: ParserThreads, call: HookCall): Promise<HookContent | null> {
  const ctx = { ...app.ctx, parserThreads }
  const read = createBodyReader(ctx, call.body)
  const parse = async () => {
    await app.hook.verifyHead(ctx, call)
    await app.hook.verifyBody?.(ctx, { ...call, read })
    return app.hook.parse(ctx, { ...call, read })
  }
  return unlessRefused(parse())
}

async function expectHarmless(
  app: AdapterTest,
  headers: Record<string, string>,
  body: Buffer,
): Promise<HookContent | null> {
  const threads = new CountedThreads(app.ctx.parserThreads)
  // The parsers may take the bytes.
  const sent = Buffer.from(body)
  const content = await receive(app, threads, app.call('', headers, { body: sent }))
  expectOutsideOfThisThread(body, threads)
  if (content) expectBounded(content)
  return content
}

const adapterOf = (name: string): ChannelAdapter => CHANNEL_ADAPTERS[name] ?? expect.fail(`no adapter ${name}`)

test('every adapter gets at least forty shapes', () => {
  expect([...Object.keys(SIGN), 'mail', 'mailgun', 'twilio'].toSorted()).toEqual(
    Object.keys(CHANNEL_ADAPTERS).toSorted(),
  )
  for (const shapes of [BODIES, Object.keys(RAW_MAILS)]) expect(shapes.length).toBeGreaterThanOrEqual(40)
})

/** Half of what the hook accepts, and at most 2 MB: the cost of every shape is known to grow with its size only. */
const sizeFor = (name: string): number => Math.min((adapterOf(name).hook?.maxBytes ?? 0) / 2, 2_000_000)

describe.each(Object.keys(SIGN))('hostile calls of %s', (name) => {
  const open = async () => {
    const config = { origins: ['https://shop.example'] }
    const app = await openAdapterTest(adapterOf(name))
    const call: AdapterTest['call'] = (body, headers, more) => {
      const made = app.call(body, headers, more)
      return { ...made, channel: { ...made.channel, config } }
    }
    return { ...app, call }
  }

  test('no body is parsed on the event loop', async () => {
    const app = await open()
    for (const shape of BODIES) {
      const { headers, body } = SIGN[name]?.(app, Buffer.from(shape(sizeFor(name)))) ?? expect.fail()
      await expectHarmless(app, headers, body)
    }
  })

  test('no text is parsed on the event loop, and what it becomes is bounded', async () => {
    const app = await open()
    for (const shape of [...Object.values(TEXTS), ...Object.values(HTML)]) {
      const text = JSON.stringify(MESSAGE_WITH[name]?.(shape(sizeFor(name) / 4)))
      const { headers, body } = SIGN[name]?.(app, Buffer.from(text)) ?? expect.fail()
      await expectHarmless(app, headers, body)
    }
  })
})

/** The size of hostile shapes: a tenth is already far above what the event loop may parse itself. */
const SHAPE_BYTES = IS_MATRIX ? 500_000 : 50_000

test('hostile calls of Mailgun are not parsed on the event loop', async () => {
  const app = await openAdapterTest(adapterOf('mailgun'))
  const timestamp = nowOf(app)
  // A token counts for one body.
  const sign = (token: string) => ({ timestamp, token, signature: hmac('sha256', timestamp + token).digest('hex') })
  for (const { contentType, body } of Object.values(FORMS))
    await expectHarmless(app, { 'content-type': contentType }, Buffer.from(body(4 * SHAPE_BYTES)))
  for (const shape of BODIES)
    await expectHarmless(app, { 'content-type': 'multipart/form-data; boundary=b' }, Buffer.from(shape(SHAPE_BYTES)))
  for (const [field, shapes] of [['body-plain', TEXTS] as const, ['body-html', HTML] as const]) {
    for (const [name, shape] of Object.entries(shapes)) {
      const form = new URLSearchParams({
        ...sign(`${field} ${name}`),
        from: 'kim@example.com',
        [field]: shape(SHAPE_BYTES),
      })
      const body = Buffer.from(form.toString())
      const content = await expectHarmless(app, { 'content-type': 'application/x-www-form-urlencoded' }, body)
      expect(content?.messages).toHaveLength(1)
    }
  }
})

test('hostile calls of Twilio are not parsed on the event loop', async () => {
  const app = await openAdapterTest(adapterOf('twilio'))
  for (const shape of BODIES) await expectHarmless(app, { 'x-twilio-signature': 'none' }, Buffer.from(shape(200_000)))
  for (const shape of [...Object.values(TEXTS), ...Object.values(HTML)]) {
    const fields = { MessageSid: 'S1', From: '+1', To: '+2', Body: shape(20_000) }
    const { url } = app.call('')
    const signature = twilio.getExpectedTwilioSignature(CHANNEL_SECRET, url, fields)
    const body = Buffer.from(new URLSearchParams(fields).toString())
    const content = await expectHarmless(app, { 'x-twilio-signature': signature }, body)
    expect(content?.messages).toHaveLength(1)
  }
})

test('hostile mails that Resend stores are not parsed on the event loop', async () => {
  let [stored, attachments] = ['', '{}']
  const app = await openAdapterTest(adapterOf('resend'), {}, ({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(url.includes('/attachments') ? attachments : stored)
  })
  const expectParsedOutside = async (bytes: number) => {
    const threads = new CountedThreads(app.ctx.parserThreads)
    const event = { type: 'email.received', data: { email_id: 'a1' } }
    const content = await unlessRefused(app.hook.parse({ ...app.ctx, parserThreads: threads }, app.call(event)), 502)
    if (content) expectBounded(content)
    expect(threads).toMatchObject({ bytes, tooLarge: [] })
  }
  for (const [field, shapes] of [['text', TEXTS] as const, ['html', HTML] as const]) {
    for (const shape of Object.values(shapes)) {
      stored = JSON.stringify({ from: 'kim@example.com', [field]: shape(SHAPE_BYTES) })
      await expectParsedOutside(Buffer.byteLength(stored))
    }
  }
  for (const shape of BODIES) {
    stored = shape(SHAPE_BYTES)
    await expectParsedOutside(Buffer.byteLength(stored))
    attachments = stored
    stored = JSON.stringify({ from: 'kim@example.com', text: 'x', attachments: [{}] })
    await expectParsedOutside(Buffer.byteLength(attachments))
  }
})

test.each(Object.entries(RAW_MAILS))('a raw mail with %s is not parsed on the event loop', async (_, shape) => {
  const { ctx } = await openAdapterTest(adapterOf('postmark'))
  for (const bytes of inMatrix([12_000, 60_000, 1_000_000], [12_000, 60_000])) {
    const threads = new CountedThreads(ctx.parserThreads)
    const raw = Buffer.from(shape(bytes))
    const options = { address: 'help@shop.example', trustedServer: null }
    for (const name of ['mimeMail', 'mailHead'] as const) {
      threads.bytes = 0
      const parsed = parseUntrusted({ parserThreads: threads }, name, Buffer.from(raw), options)
      const content = await unlessRefused(parsed)
      expectOutsideOfThisThread(raw, threads)
      if (content) expectBounded(content)
    }
  }
})

test('uploads of hostile forms are refused, and the service goes on', async () => {
  const app = await testApp({ store: 'sqlite' })
  for (const { contentType, body } of Object.values(FORMS)) {
    const headers = { 'content-type': contentType, authorization: `Bearer ${app.key}` }
    const response = await fetch(`${app.url}/v1/files`, { method: 'POST', headers, body: body(1_000_000) })
    expect(response.status).toBe(400)
    await response.body?.cancel()
  }
  expect(await app.call('GET', '/livez')).toMatchObject({ status: 200 })
})

test('forms of apps with very many fields are refused', async () => {
  const app = await testApp({ store: 'sqlite' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const path of ['/v1/mcp-oauth/token', '/v1/mcp-oauth/revoke']) {
    const response = await fetch(app.url + path, { method: 'POST', headers, body: 'a&'.repeat(8_000) })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: 'invalid_request',
      error_description: 'body must not have more than 50 fields',
    })
  }
})

test('strangers and clients send at most 64 KiB of JSON', async () => {
  const app = await testApp({ store: 'sqlite' })
  const raw = JSON_BODIES['empty lists']?.(65 * 1024) ?? ''
  const { id } = (await app.call('POST', '/v1/clients', {})).body
  const { token } = (await app.call('POST', `/v1/clients/${id}/portal-link`)).body
  const { session_token } = (await app.call('POST', '/v1/portal/session', { token }, { key: null })).body
  const paths = ['/v1/auth/login', '/v1/auth/signup', '/v1/portal/session', '/v1/portal/links']
  for (const [path, key] of [
    ...paths.map((one) => [one, null] as const),
    ['/v1/portal/threads', session_token] as const,
  ])
    expect(await app.call('POST', path, undefined, { key, raw })).toMatchObject({
      status: 413,
      body: { error: 'body is larger than 64 KiB' },
    })
})

describe.skipIf(mailServerProblem() !== null)('hostile mails in a mailbox', () => {
  test('are all received, and those behind them as well', async () => {
    const app = await mailboxApp('sqlite')
    const mails = Object.entries(MAILS).map(([name, shape]) =>
      shape(200_000).replace(
        /^From: .*\r\n/,
        `$&Subject: ${name}\r\nMessage-ID: <${encodeURIComponent(name)}@example.com>\r\n`,
      ),
    )
    const last = 'From: kim@example.com\r\nSubject: The last\r\n\r\nStill here\r\n'
    for (const raw of [...mails, last]) app.server.putMail(Buffer.from(raw))
    const readSubjects = async () => {
      const rows = await app.ctx.db
        .selectFrom('messages')
        .select(['subject', 'body'])
        .where('direction', '=', 'inbound')
        .execute()
      expectBounded({ messages: rows })
      return rows.map(({ subject }) => subject)
    }
    await passTimeUntil(app, async () => (await readSubjects()).includes('The last'))
    // A bounce is no message, and a subject of encoded words is its own.
    const others = ['a bounce of ids', 'a bounce of many mails', 'encoded words']
    const expected = Object.keys(MAILS).filter((name) => !others.includes(name))
    expect(await readSubjects()).toEqual(expect.arrayContaining(expected))
  })
})
