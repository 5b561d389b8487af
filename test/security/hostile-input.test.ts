import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { Problem } from '../../src/base/problem.ts'
import type { ChannelAdapter, HookCall, HookContent } from '../../src/channels/adapters/adapter.ts'
import { CHANNEL_ADAPTERS } from '../../src/channels/adapters/adapter-table.ts'
import { createBodyReader, parseUntrusted } from '../../src/channels/parsers/parse-untrusted.ts'
import { WorkerThread } from '../../src/ctx/worker-thread.ts'
import { type AdapterTest, CHANNEL_SECRET, openAdapterTest } from '../channels/adapters/adapter-fixtures.ts'
import { testApp } from '../app.ts'
import { mailboxApp, passTimeUntil } from '../mail/mailbox-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { FORMS, HTML, JSON_BODIES, MAILS, TEXTS } from './hostile-shapes.ts'

/** The parser thread of an app, which notes the size of its jobs. */
class CountedThread extends WorkerThread {
  bytes = 0
  readonly #thread: WorkerThread

  constructor(thread: WorkerThread) {
    super('')
    this.#thread = thread
  }

  override run<Result>(job: { bytes: Uint8Array }, buffers: readonly ArrayBuffer[]): Promise<Result> {
    this.bytes += job.bytes.length
    return this.#thread.run(job, buffers)
  }
}

/** What the event loop may parse itself. */
const MAX_BYTES = 4 * 1024
const MAX_LINES = 100
/** What a parser may hand over, apart from the bytes of files: some texts of 100,000 characters. */
const MAX_RESULT_CHARACTERS = 500_000
const MAX_FILES = 1_000

/** Nothing of this input was parsed in this thread, or it is small. */
function expectOutsideOfThisThread(body: Buffer, movedBytes: number): void {
  // Mailgun signs a part of the body, so it is read twice.
  if (movedBytes > 0) return expect([body.length, 2 * body.length]).toContain(movedBytes)
  expect(body.length).toBeLessThanOrEqual(MAX_BYTES)
  expect(body.toString('latin1').split('\n').length - 1).toBeLessThanOrEqual(MAX_LINES)
}

function expectBounded({
  messages,
  undelivered = [],
}: Pick<HookContent, 'undelivered'> & { messages: object[] }): void {
  const files = messages.flatMap((message) => ('files' in message && Array.isArray(message.files) ? message.files : []))
  expect(files.length).toBeLessThanOrEqual(MAX_FILES)
  const texts = messages.map((message) => ({ ...message, files: [] }))
  expect(JSON.stringify([texts, undelivered]).length).toBeLessThan(MAX_RESULT_CHARACTERS)
}

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
  slack: (text) => ({
    type: 'event_callback',
    team_id: 'T1',
    event: { type: 'message', user: 'U1', channel: 'C1', ts: '1', text },
  }),
  telegram: (text) => ({ update_id: 1, message: { message_id: 1, chat: { id: 1 }, from: { id: 1 }, text } }),
  widget: (body) => ({ visitor: 'v'.repeat(20), body }),
}

/** Receives a call with this body; null if it was refused. */
async function receive(app: AdapterTest, thread: CountedThread, call: HookCall): Promise<HookContent | null> {
  const ctx = { ...app.ctx, parserThread: thread }
  const read = createBodyReader(ctx, call.body)
  try {
    await app.hook.verify(ctx, { ...call, read })
    return await app.hook.parse(ctx, { ...call, read })
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return null
    throw error
  }
}

async function expectHarmless(app: AdapterTest, headers: Record<string, string>, body: Buffer): Promise<void> {
  const thread = new CountedThread(app.ctx.parserThread)
  // The parsers may take the bytes.
  const sent = Buffer.from(body)
  const content = await receive(app, thread, app.call('', headers, { body: sent }))
  expectOutsideOfThisThread(body, thread.bytes)
  if (content) expectBounded(content)
}

const adapterOf = (name: string): ChannelAdapter => CHANNEL_ADAPTERS[name] ?? expect.fail(`no adapter ${name}`)

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

  test('no shape of JSON is parsed on the event loop', async () => {
    const app = await open()
    for (const shape of Object.values(JSON_BODIES)) {
      const { headers, body } = SIGN[name]?.(app, Buffer.from(shape(sizeFor(name)))) ?? expect.fail()
      await expectHarmless(app, headers, body)
    }
  })

  test('no text is parsed on the event loop, and what it becomes is bounded', async () => {
    const app = await open()
    for (const shape of Object.values(TEXTS)) {
      const text = JSON.stringify(MESSAGE_WITH[name]?.(shape(sizeFor(name) / 4)))
      const { headers, body } = SIGN[name]?.(app, Buffer.from(text)) ?? expect.fail()
      await expectHarmless(app, headers, body)
    }
  })
})

test('hostile calls of Mailgun are not parsed on the event loop', async () => {
  const app = await openAdapterTest(adapterOf('mailgun'))
  const [timestamp, token] = [nowOf(app), 'token']
  const signed = { timestamp, token, signature: hmac('sha256', timestamp + token).digest('hex') }
  for (const { contentType, body } of Object.values(FORMS))
    await expectHarmless(app, { 'content-type': contentType }, Buffer.from(body(2_000_000)))
  for (const [field, shapes] of [['body-plain', TEXTS] as const, ['body-html', HTML] as const]) {
    for (const shape of Object.values(shapes)) {
      const form = new URLSearchParams({ ...signed, from: 'kim@example.com', [field]: shape(500_000) })
      await expectHarmless(app, { 'content-type': 'application/x-www-form-urlencoded' }, Buffer.from(form.toString()))
    }
  }
})

test('hostile calls of Twilio are not parsed on the event loop', async () => {
  const app = await openAdapterTest(adapterOf('twilio'))
  for (const shape of [...Object.values(FORMS).map(({ body }) => body), ...Object.values(TEXTS)]) {
    const body = Buffer.from(`MessageSid=S1&From=%2B1&To=%2B2&Body=${shape(200_000)}`)
    await expectHarmless(app, { 'x-twilio-signature': 'none' }, body)
  }
})

test('hostile mails that Resend stores are not parsed on the event loop', async () => {
  let stored: object = {}
  const app = await openAdapterTest(adapterOf('resend'), {}, (_, response) => respondJson(response, 200, stored))
  for (const [field, shapes] of [['text', TEXTS] as const, ['html', HTML] as const]) {
    for (const shape of Object.values(shapes)) {
      const thread = new CountedThread(app.ctx.parserThread)
      stored = { from: 'kim@example.com', [field]: shape(500_000) }
      const event = { type: 'email.received', data: { email_id: 'a1' } }
      const ctx = { ...app.ctx, parserThread: thread }
      expectBounded(await app.hook.parse(ctx, app.call(event)))
      expect(thread.bytes).toBe(Buffer.byteLength(JSON.stringify(stored)))
    }
  }
})

test.each(Object.entries(MAILS))('a raw mail with %s is not parsed on the event loop', async (_, shape) => {
  const { ctx } = await openAdapterTest(adapterOf('postmark'))
  for (const bytes of [12_000, 60_000, 1_000_000]) {
    const thread = new CountedThread(ctx.parserThread)
    const raw = Buffer.from(shape(bytes))
    const options = { address: 'help@shop.example', trustedServer: null }
    const content = await parseUntrusted({ parserThread: thread }, 'mimeMail', Buffer.from(raw), options).catch(
      () => null,
    )
    expectOutsideOfThisThread(raw, thread.bytes)
    if (content) expectBounded(content)
    expectBounded(await parseUntrusted(ctx, 'mailHead', raw, options).catch(() => ({ messages: [], undelivered: [] })))
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
    const others = ['a bounce of ids', 'encoded words']
    const expected = Object.keys(MAILS).filter((name) => !others.includes(name))
    expect(await readSubjects()).toEqual(expect.arrayContaining(expected))
  })
})
