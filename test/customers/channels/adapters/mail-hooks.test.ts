import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { mailgunAdapter } from '../../../../src/customers/channels/adapters/mailgun.ts'
import { postmarkAdapter } from '../../../../src/customers/channels/adapters/postmark.ts'
import { resendAdapter } from '../../../../src/customers/channels/adapters/resend.ts'
import { respondJson } from '../../../fake-upstream.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET, openAdapterTest, readIncoming } from './adapter-fixtures.ts'

const HEADERS = [
  ['Message-ID', '<m2@example.com>'],
  ['In-Reply-To', '<apr_1@shop.example>'],
  ['References', '<m1@example.com> <apr_1@shop.example>'],
]

/** What the three providers must make of the same mail. */
const MESSAGE = {
  externalId: '<m2@example.com>',
  from: { handle: 'kim@example.com', name: 'Kim Ö' },
  body: 'Where is it?',
  subject: 'Re: Order A-1',
  conversationKey: 'order a-1',
  continues: {
    externalIds: ['<m1@example.com>', '<apr_1@shop.example>', '<apr_1@shop.example>'],
    replyToken: '00112233445566778899aabbccddeeff',
  },
  address: { to: 'Kim Ö <kim@example.com>', message_id: '<m2@example.com>' },
  isAutomatic: false,
}
const RECIPIENT = 'help+t_00112233445566778899aabbccddeeff@shop.example'
const TEXT = 'Where is it?\n\nOn Monday, Desk wrote:\n> It left today.\n'

describe('Postmark', () => {
  const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` })

  test.each([
    [200, basic(`any:${CHANNEL_SECRET}`)],
    [200, basic(`:${CHANNEL_SECRET}`)],
    [401, basic('any:wrong')],
    [401, basic(`${CHANNEL_SECRET}x`)],
    [401, basic('any:')],
    [401, { authorization: `Bearer ${CHANNEL_SECRET}` }],
    [401, {}],
  ])('%i for the credentials %j', async (status, headers) => {
    const { call, verify } = await openAdapterTest(postmarkAdapter)
    expect(await verify(call({}, headers))).toBe(status)
    expect(await verify(call({}, headers, { secret: null }))).toBe(401)
  })

  /** As in the documentation of Postmark. */
  const inbound = (more: object = {}) => ({
    FromName: 'Kim Ö',
    From: 'kim@example.com',
    FromFull: { Email: 'kim@example.com', Name: 'Kim Ö', MailboxHash: '' },
    To: RECIPIENT,
    ToFull: [{ Email: RECIPIENT, Name: '', MailboxHash: 't_00112233445566778899aabbccddeeff' }],
    CcFull: [],
    BccFull: [],
    OriginalRecipient: RECIPIENT,
    Subject: 'Re: Order A-1',
    MessageID: '22c74902-a0c1-4511-804f-341342852c90',
    TextBody: TEXT,
    HtmlBody: '<p>Where is it?</p>',
    Headers: [
      { Name: 'Received-SPF', Value: 'Pass (sender SPF authorized) identity=mailfrom; client-ip=192.0.2.1' },
      { Name: 'X-Spam-Tests', Value: 'DKIM_SIGNED,DKIM_VALID,DKIM_VALID_AU,SPF_PASS' },
      ...HEADERS.map(([Name, Value]) => ({ Name, Value })),
    ],
    Attachments: [
      { Name: 'bill.txt', Content: 'aGVsbG8=', ContentType: 'text/plain', ContentLength: 5, ContentID: '' },
    ],
    ...more,
  })

  test('a mail is parsed', async () => {
    const { ctx, hook, call } = await openAdapterTest(postmarkAdapter)
    const [message] = (await hook.parse(ctx, call(inbound()))).messages
    expect(message).toMatchObject({ ...MESSAGE, verdict: { spf: 'pass', dkim: 'pass', dmarc: 'none', by: 'postmark' } })
    expect(message?.files.map(({ name, contentType }) => [name, contentType])).toEqual([['bill.txt', 'text/plain']])
    expect(await readIncoming(message?.files[0])).toBe('hello')
  })

  test.each([
    ['Pass', 'DKIM_VALID', { spf: 'pass', dkim: 'pass' }],
    ['Fail', 'DKIM_INVALID', { spf: 'fail', dkim: 'fail' }],
    ['Neutral', 'x', { spf: 'neutral', dkim: 'none' }],
  ])('of repeated headers, %s and %s count beside a pass', async (spf, tests, verdict) => {
    const { ctx, hook, call } = await openAdapterTest(postmarkAdapter)
    const more = [
      { Name: 'Received-SPF', Value: spf },
      { Name: 'X-Spam-Tests', Value: tests },
    ]
    for (const Headers of [
      [...inbound().Headers, ...more],
      [...more, ...inbound().Headers],
    ])
      expect((await hook.parse(ctx, call(inbound({ Headers })))).messages).toMatchObject([{ verdict }])
  })

  test('characters that no store can keep are removed, and a body that is no object is refused', async () => {
    const { ctx, hook, call } = await openAdapterTest(postmarkAdapter)
    const { messages } = await hook.parse(ctx, call(inbound({ TextBody: 'a\u0000b\ud800' })))
    expect(messages).toMatchObject([{ body: 'ab\ufffd' }])
    await expect(hook.parse(ctx, call('[]'))).rejects.toThrow('body must be a json object')
  })

  test('an automatic reply and a mail without a sender start nothing', async () => {
    const { ctx, hook, call } = await openAdapterTest(postmarkAdapter)
    const Headers = [{ Name: 'Auto-Submitted', Value: 'auto-replied' }]
    expect((await hook.parse(ctx, call(inbound({ Headers })))).messages).toMatchObject([{ isAutomatic: true }])
    expect((await hook.parse(ctx, call(inbound({ FromFull: {} })))).messages).toEqual([])
  })
})

describe('Mailgun', () => {
  const FIELDS = {
    recipient: RECIPIENT,
    sender: 'bounces@example.com',
    from: 'Kim Ö <kim@example.com>',
    subject: 'Re: Order A-1',
    'body-plain': TEXT,
    'body-html': '<p>Where is it?</p>',
    'message-headers': JSON.stringify([
      ['X-Mailgun-Spf', 'Pass'],
      ['X-Mailgun-Dkim-Check-Result', 'Pass'],
      ['To', `Desk <${RECIPIENT}>`],
      ...HEADERS,
    ]),
  }

  function signedFields(nowMs: number, { secret = CHANNEL_SECRET, ageS = 0, token = 'a'.repeat(50) } = {}) {
    const timestamp = String(Math.floor(nowMs / 1000) - ageS)
    const signature = createHmac('sha256', secret)
      .update(timestamp + token)
      .digest('hex')
    return { timestamp, token, signature }
  }

  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

  test.each([
    [200, {}],
    [200, { ageS: 299 }],
    [401, { ageS: 301 }],
    [401, { ageS: -301 }],
    [401, { secret: 'wrong' }],
  ])('%i for a call signed with %j', async (status, options) => {
    const { ctx, call, verify } = await openAdapterTest(mailgunAdapter)
    const fields = { ...FIELDS, ...signedFields(ctx.world.clock.now(), options) }
    expect(await verify(call(new URLSearchParams(fields).toString(), FORM))).toBe(status)
  })

  test('a changed token, a changed time and a body that is no form are refused', async () => {
    const { ctx, call, verify } = await openAdapterTest(mailgunAdapter)
    const fields = signedFields(ctx.world.clock.now())
    const later = { ...fields, timestamp: String(Number(fields.timestamp) + 1) }
    for (const changed of [{ ...fields, token: 'b' }, later, { ...fields, signature: '' }, {}])
      expect(await verify(call(new URLSearchParams(changed).toString(), FORM))).toBe(401)
    expect(await verify(call('{}', { 'content-type': 'application/json' }))).toBe(400)
    expect(await verify(call('x', { 'content-type': 'multipart/form-data; boundary=b' }))).toBe(400)
  })

  test('of a call that is not signed, only the signed fields are read', async () => {
    const { ctx, call, verify } = await openAdapterTest(mailgunAdapter)
    const form = { ...FIELDS, ...signedFields(ctx.world.clock.now(), { secret: 'wrong' }) }
    // To read this header takes seconds.
    const headers = JSON.stringify([['To', ','.repeat(9_000_000)]])
    const body = new URLSearchParams({ ...form, 'message-headers': headers }).toString()
    expect(await verify(call(body, FORM))).toBe(401)
    const signed = await call(body, FORM).read('mailgunSignature', { contentType: FORM['content-type'] })
    expect(signed).toMatchObject({ timestamp: form.timestamp, token: form.token, signature: form.signature })
  })

  test('a file without a name is received, and a text with the type of a file is a text', async () => {
    const { ctx, hook, call } = await openAdapterTest(mailgunAdapter)
    const part = (head: string, value: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
    const text = part('name="body-plain"\r\nContent-Type: application/octet-stream', 'Where is it?')
    const file = part('name="attachment-1"\r\nContent-Type: application/octet-stream', 'hello')
    const body = `${part('name="from"', 'kim@example.com')}${text}${file}--b--\r\n`
    const { messages } = await hook.parse(ctx, call(body, { 'content-type': 'multipart/form-data; boundary=b' }))
    expect(messages).toMatchObject([{ body: 'Where is it?', files: [{ name: 'attachment' }] }])
    expect(await readIncoming(messages[0]?.files[0])).toBe('hello')
  })

  test('a mail with attachments is parsed', async () => {
    const { ctx, hook, call } = await openAdapterTest(mailgunAdapter)
    const form = new FormData()
    for (const [name, value] of Object.entries(FIELDS)) form.append(name, value)
    form.append('attachment-1', new File(['hello'], 'bill.txt', { type: 'text/plain' }))
    form.append('attachment-2', new File(['x'], 'logo.png', { type: 'image/png' }))
    form.append('content-id-map', JSON.stringify({ '<logo>': 'attachment-2' }))
    const request = new Request('https://desk.example/', { method: 'POST', body: form })
    const headers = { 'content-type': request.headers.get('content-type') ?? '' }
    const body = Buffer.from(await request.arrayBuffer())
    const [message] = (await hook.parse(ctx, call('', headers, { body }))).messages
    expect(message).toMatchObject({ ...MESSAGE, verdict: { spf: 'pass', dkim: 'pass', by: 'mailgun' } })
    expect(message?.files.map(({ name, contentType }) => [name, contentType])).toEqual([['bill.txt', 'text/plain']])
    expect(await readIncoming(message?.files[0])).toBe('hello')
  })
})

describe('Resend', () => {
  const SIGNING_SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
  const EVENT = JSON.stringify({ type: 'email.received', data: { email_id: '56761188-7520-42d8-8898-ff6fc54ce618' } })

  function signedHeaders(nowMs: number, body: string, secret = SIGNING_SECRET, ageS = 0) {
    const time = new Date(nowMs - ageS * 1000)
    return {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(time.getTime() / 1000)),
      'svix-signature': new Webhook(secret).sign('msg_1', time, body),
    }
  }

  const isAcceptedBySvix = (body: string, headers: Record<string, string>): boolean => {
    try {
      new Webhook(SIGNING_SECRET).verify(body, headers)
      return true
    } catch {
      return false
    }
  }

  test('a call is accepted exactly when the library of the provider accepts it', async () => {
    const { ctx, hook, call, verify } = await openAdapterTest(resendAdapter)
    // The library has no other clock than that of the machine.
    const now = Date.now()
    const context = { ...ctx, world: { ...ctx.world, clock: { ...ctx.world.clock, now: () => now } } }
    const judged = async (body: string, headers: Record<string, string>) => {
      const verified = async () => {
        const signed = call(body, headers, { secret: SIGNING_SECRET })
        await hook.verifyHead(context, signed)
        await hook.verifyBody?.(context, signed)
      }
      const ours = await verified().then(
        () => true,
        () => false,
      )
      expect([ours, headers]).toEqual([isAcceptedBySvix(body, headers), headers])
      return ours
    }
    const valid = signedHeaders(now, EVENT)
    expect(await judged(EVENT, valid)).toBe(true)
    const other = signedHeaders(now, EVENT, `whsec_${Buffer.from('another').toString('base64')}`)
    const both = { ...valid, 'svix-signature': `${other['svix-signature']} ${valid['svix-signature']}` }
    expect(await judged(EVENT, both)).toBe(true)
    expect(await judged(EVENT, other)).toBe(false)
    expect(await judged(`${EVENT} `, valid)).toBe(false)
    for (const ageS of [-400, -200, 200, 400]) await judged(EVENT, signedHeaders(now, EVENT, SIGNING_SECRET, ageS))
    const change = fc.record(
      {
        'svix-id': fc.string(),
        'svix-timestamp': fc.oneof(fc.string(), fc.integer().map(String)),
        'svix-signature': fc.oneof(
          fc.base64String(),
          fc.base64String().map((text) => `v1,${text}`),
        ),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(change, async (changed) => void (await judged(EVENT, { ...valid, ...changed }))),
      { numRuns: 200 },
    )
    expect(await verify(call(EVENT, valid, { secret: null }))).toBe(401)
  })

  const mail = {
    object: 'email',
    id: '56761188-7520-42d8-8898-ff6fc54ce618',
    to: ['Desk <help@shop.example>'],
    received_for: [RECIPIENT],
    from: 'Kim Ö <kim@example.com>',
    subject: 'Re: Order A-1',
    cc: null,
    bcc: null,
    reply_to: null,
    html: '<p>Where is it?</p>',
    text: TEXT,
    headers: {
      'authentication-results':
        'amazonses.com; spf=pass (ok; really) smtp.mailfrom=example.com; dkim=fail; dkim=pass; dmarc=pass',
      ...Object.fromEntries(HEADERS.slice(1).map(([name, value]) => [name?.toLowerCase(), value])),
    },
    message_id: '<m2@example.com>',
    attachments: [{ id: 'att_1', filename: 'bill.txt', size: 5, content_type: 'text/plain' }],
  }

  test('the mail and its attachments are read from the API', async () => {
    const { ctx, hook, call, provider } = await openAdapterTest(resendAdapter, {}, (request, response) => {
      if (request.url?.startsWith('/download')) return void response.writeHead(200).end('hello')
      if (!request.url?.includes('/attachments')) return respondJson(response, 200, mail)
      const download_url = `${provider.url}/download?token=1`
      respondJson(response, 200, { object: 'list', data: [{ ...mail.attachments[0], download_url }] })
    })
    const [message] = (await hook.parse(ctx, call(EVENT))).messages
    expect(message).toMatchObject({
      ...MESSAGE,
      verdict: { spf: 'pass', dkim: 'pass', dmarc: 'pass', by: 'amazonses.com' },
    })
    expect(await readIncoming(message?.files[0])).toBe('hello')
    expect(provider.received.map(({ url }) => url)).toEqual([
      '/emails/receiving/56761188-7520-42d8-8898-ff6fc54ce618?html_format=cid',
      '/emails/receiving/56761188-7520-42d8-8898-ff6fc54ce618/attachments?limit=100',
      '/download?token=1',
    ])
    const [read, list, download] = provider.received
    for (const request of [read, list]) expect(request?.headers.authorization).toBe(`Bearer ${CONNECTION_SECRET}`)
    expect(JSON.stringify(download?.headers)).not.toContain(CONNECTION_SECRET)
  })

  test('the word of another server than the receiving one is no verdict', async () => {
    const headers = { 'authentication-results': 'mx.evil.example; spf=pass; dkim=pass; dmarc=pass' }
    const { ctx, hook, call } = await openAdapterTest(resendAdapter, {}, (_, response) =>
      respondJson(response, 200, { ...mail, headers, attachments: [] }),
    )
    const [message] = (await hook.parse(ctx, call(EVENT))).messages
    expect(message).not.toHaveProperty('verdict')
  })

  test('another event starts nothing, and a mail that cannot be read is an error, so that Resend calls again', async () => {
    const { ctx, hook, call } = await openAdapterTest(resendAdapter, {}, (_, response) =>
      respondJson(response, 500, {}),
    )
    expect(await hook.parse(ctx, call(JSON.stringify({ type: 'email.sent', data: {} })))).toEqual({ messages: [] })
    await expect(hook.parse(ctx, call(EVENT))).rejects.toMatchObject({ status: 502 })
    const foreign = JSON.stringify({ type: 'email.received', data: { email_id: '../domains' } })
    await expect(hook.parse(ctx, call(foreign))).rejects.toMatchObject({ status: 400 })
  })
})
