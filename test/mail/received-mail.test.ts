import MailComposer from 'nodemailer/lib/mail-composer'
import { describe, expect, test } from 'vitest'
import type { MailVerdict } from '../../src/customers/channels/mail/mail-verdict.ts'
import { parseMime, parseMimeMail } from '../../src/customers/channels/parsers/mime-mail.ts'
import { parseMailAddress } from '../../src/connections/mail/mail-address.ts'
import { type FileBytes, toMailContent } from '../../src/customers/channels/mail/received-mail.ts'

const HELP = 'help@shop.example'

/** What the service makes of a mail that arrived at help@shop.example. */
async function receive(raw: string | Buffer, channelAddress = HELP) {
  return (await readContentOf(raw, channelAddress)).messages[0] ?? null
}

async function readContentOf(raw: string | Buffer, address = HELP) {
  return toMailContent({ address }, { ...(await parseMime(Buffer.from(raw))), verdict: null })
}

const compose = (options: ConstructorParameters<typeof MailComposer>[0]) => new MailComposer(options).compile().build()

const readContent = (file: FileBytes | undefined): Buffer => Buffer.from(file?.bytes ?? [])

/** A mail with the given head. */
const plain = (head: string, body = 'Hello') =>
  `From: Kim <kim@example.com>\r\nTo: ${HELP}\r\nMessage-ID: <1@example.com>\r\n${head}\r\n\r\n${body}\r\n`

const UNUSUAL = [
  `boundary=${'b'.repeat(71)}`,
  'boundary*0="b"; boundary*1="c"',
  'boundary="a\\"b"',
  'boundary="a\r\n b"',
]

test.each(UNUSUAL)('a mail whose parts cannot be counted is refused: %j', async (boundary) => {
  const options = { address: HELP, trustedServer: null }
  const refused = parseMimeMail(Buffer.from(plain(`Content-Type: multipart/mixed;\r\n ${boundary}`)), options)
  await expect(refused).rejects.toThrow('a boundary of an unusual form')
  const body = `See https://shop.example/?${boundary}\r\nContent: ${boundary}`
  const { messages } = await parseMimeMail(Buffer.from(plain('Content-Type: text/plain', body)), options)
  expect(messages[0]?.body).toContain('See https://shop.example/?boundary')
})

test('a mail becomes a message with its sender, thread, text and files', async () => {
  const pdf = Buffer.from('%PDF-1.7 \u0000\u0001')
  const raw = await compose({
    from: 'Jörg Müller <joerg@example.com>',
    to: 'Desk <help+t_AbCd1234_-xyz@shop.example>',
    cc: 'other@example.com',
    subject: 'Re: Größe €',
    messageId: '<m2@example.com>',
    inReplyTo: '<apr_1@shop.example>',
    references: ['<m1@example.com>', '<apr_1@shop.example>'],
    text: 'Schöne Grüße\n\nOn Monday, Desk wrote:\n> hello',
    html: '<p>Schöne Grüße</p>',
    attachments: [{ filename: 'Rechnung Köln.pdf', content: pdf, contentType: 'application/pdf' }],
  })
  const message = await receive(raw)
  expect(message).toMatchObject({
    externalId: '<m2@example.com>',
    from: { handle: 'joerg@example.com', name: 'Jörg Müller' },
    body: 'Schöne Grüße',
    subject: 'Re: Größe €',
    conversationKey: 'größe €',
    address: { to: 'Jörg Müller <joerg@example.com>', message_id: '<m2@example.com>' },
    isAutomatic: false,
  })
  expect(message?.continues).toEqual({
    externalIds: ['<m1@example.com>', '<apr_1@shop.example>', '<apr_1@shop.example>'],
    replyToken: 'AbCd1234_-xyz',
  })
  expect(message?.files.map(({ name, contentType }) => [name, contentType])).toEqual([
    ['Rechnung Köln.pdf', 'application/pdf'],
  ])
  expect(readContent(message?.files[0]).equals(pdf)).toBe(true)
})

test('an HTML mail is read as text, and small inline images are no files', async () => {
  const raw = await compose({
    from: 'kim@example.com',
    to: HELP,
    subject: 'Picture',
    html: '<p>See <b>this</b></p><img src="cid:logo"><img src="cid:shot">',
    attachments: [
      { filename: 'logo.png', content: Buffer.alloc(500), cid: 'logo', contentType: 'image/png' },
      { filename: 'shot.png', content: Buffer.alloc(20_000), cid: 'shot', contentType: 'image/png' },
    ],
  })
  const message = await receive(raw)
  expect(message?.body).toBe('See this')
  expect(message?.files.map(({ name }) => name)).toEqual(['shot.png'])
})

test('invisible characters and NUL do not reach the message', async () => {
  const message = await receive(plain('Subject: a\u202eb\u0000', 'Hi\u0000 th\u200bere \u{E0041}\u{E0042}!'))
  expect(message).toMatchObject({ subject: 'ab', body: 'Hi there !' })
})

test('a mail without a Message-ID has the same id each time it arrives', async () => {
  const raw = 'From: kim@example.com\r\nDate: Mon, 3 Nov 2025 10:00:00 +0000\r\n\r\nHello'
  const [one, two, other] = [await receive(raw), await receive(raw), await receive(`${raw} again`)]
  expect(one?.externalId).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(two?.externalId).toBe(one?.externalId)
  expect(other?.externalId).not.toBe(one?.externalId)
})

test('a text that is too long is cut, and the whole text is a file', async () => {
  const message = await receive(plain('Subject: Long', 'word '.repeat(40_000)))
  expect(message?.body.length).toBeLessThan(100_100)
  expect(message?.body.endsWith('[The whole text is in message.txt.]')).toBe(true)
  expect(readContent(message?.files[0]).length).toBe(199_999)
})

test('a short text above very long quotes is the whole text', async () => {
  const quotes = '> an earlier mail of some length\n'.repeat(20_000)
  const message = await receive(plain('Subject: Re: Long', `Yes, please.\n\nOn Monday, Desk wrote:\n${quotes}`))
  expect(message).toMatchObject({ body: 'Yes, please.', files: [] })
})

test('a forwarded mail is a file of the message', async () => {
  const inner = plain('Subject: Inner')
  const raw = await compose({
    from: 'kim@example.com',
    to: HELP,
    text: 'See below',
    attachments: [{ contentType: 'message/rfc822', raw: `Content-Type: message/rfc822\r\n\r\n${inner}` }],
  })
  const message = await receive(raw)
  expect(message?.body).toBe('See below')
  expect(message?.files.map(({ name }) => name)).toEqual(['message.eml'])
})

describe('the sender', () => {
  test('Reply-To does not lead answers away from the sender', async () => {
    expect(await receive(plain('Reply-To: thief@evil.example'))).toMatchObject({ from: { handle: 'kim@example.com' } })
  })

  test.each([
    ['a mailing list that writes as the channel', `From: "Kim via Help" <${HELP}>`],
    ['a form', 'From: Form <no-reply@forms.example>'],
  ])('is in Reply-To for %s', async (_, from) => {
    const raw = `${from}\r\nReply-To: Kim <kim@example.com>\r\nMessage-ID: <1@x.example>\r\n\r\nHello`
    expect(await receive(raw)).toMatchObject({ from: { handle: 'kim@example.com' }, isAutomatic: false })
  })

  test('what the mail server proved is about From, not about Reply-To', async () => {
    const verdict: MailVerdict = { spf: 'pass', dkim: 'pass', dmarc: 'pass', by: 'mx.shop.example' }
    const relayed = await parseMime(Buffer.from('From: noreply@evil.example\r\nReply-To: kim@example.com\r\n\r\nHello'))
    const direct = await parseMime(Buffer.from('From: kim@example.com\r\n\r\nHello'))
    const read = (mail: typeof direct) => toMailContent({ address: HELP }, { ...mail, verdict }).messages[0]
    const kim = { from: { handle: 'kim@example.com' }, verdict }
    expect(read(relayed)).toMatchObject({ ...kim, senderProof: 'failed', sentBy: 'noreply@evil.example' })
    expect(read(direct)).toMatchObject({ ...kim, senderProof: 'required' })
    expect(read(direct)).not.toHaveProperty('sentBy')
  })

  test.each(['=?utf-8?Q?Kim_=F0=9F=91=A9=E2=80=8D=F0=9F=92=BB?=', 'Kim =?utf-8?B?4oCM?= Lee', '"Lee, Kim"'])(
    'the answer can be addressed to the name %s',
    async (name) => {
      const message = await receive(`From: ${name} <kim@example.com>\r\nMessage-ID: <1@x.example>\r\n\r\nHello`)
      expect(parseMailAddress(String(message?.address.to))).toMatchObject({ address: 'kim@example.com' })
    },
  )

  test('an id with a control character does not count', async () => {
    const message = await receive(plain('References: <a\u0000@x.example> <b@x.example>'))
    expect(message?.continues?.externalIds).toEqual(['<b@x.example>'])
  })

  test('a mail without a sender is no message', async () => {
    expect(await receive('Subject: nothing\r\n\r\nHello')).toBeNull()
  })
})

describe('automatic mails', () => {
  test.each([
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated; owner-email="kim@example.com"',
    'Return-Path: <>',
    'Precedence: bulk',
    'Precedence: auto_reply',
    'X-Auto-Response-Suppress: OOF, AutoReply',
    'X-Autoreply: yes',
    'Subject: Automatic reply: Order',
    'Subject: Abwesenheitsnotiz',
    'Subject: Out of Office: Order',
  ])('%s', async (head) => {
    expect(await receive(plain(head))).toMatchObject({ isAutomatic: true })
  })

  test.each([
    'Auto-Submitted: no',
    'Precedence: list\r\nList-Id: <help.shop.example>',
    'Subject: Re: reply to your automatic reply',
    'Return-Path: <kim@example.com>',
  ])('a person may write: %s', async (head) => {
    expect(await receive(plain(head))).toMatchObject({ isAutomatic: false })
  })

  test('a mail of the channel itself is automatic', async () => {
    const raw = plain('Subject: Loop').replace('kim@example.com', 'help+t_12345678@shop.example')
    expect(await receive(raw)).toMatchObject({ isAutomatic: true })
  })

  test('a bounce names the mail that did not arrive, and is no message', async () => {
    const raw = [
      'From: MAILER-DAEMON@mx.example.com',
      `To: ${HELP}`,
      'Auto-Submitted: auto-replied',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      '',
      '--b',
      '',
      'Your mail was not delivered.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.com',
      '',
      'Final-Recipient: rfc822; kim@example.com',
      'Action: failed',
      'Status: 5.1.1',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'From: help@shop.example',
      'Message-ID: <apr_9@shop.example>',
      '',
      'The answer',
      '--b--',
    ].join('\r\n')
    expect(await readContentOf(raw)).toEqual({
      messages: [],
      undelivered: [{ externalIds: ['<apr_9@shop.example>'], error: 'the mail was returned (5.1.1)' }],
    })
    expect(await readContentOf(raw.replace('Action: failed', 'Action: delayed'))).toEqual({
      messages: [],
      undelivered: [],
    })
    const detailed = raw.replace('Status: 5.1.1', 'Status: 5.1.1\r\nDiagnostic-Code: smtp; 550\r\n  no such user')
    expect((await readContentOf(detailed)).undelivered).toMatchObject([{ error: 'smtp; 550 no such user' }])
  })

  test('a mail of a mail server that is no report is no message', async () => {
    expect(await receive(plain('Subject: Failure').replace('kim@', 'MAILER-DAEMON@'))).toBeNull()
  })
})

describe('hostile mails', () => {
  test('parts that are nested too deeply are refused', async () => {
    const deep = Array.from(
      { length: 200 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    )
    await expect(parseMime(Buffer.from(`From: a@b.example\r\n${deep.join('')}`))).rejects.toThrow(/nesting/i)
  })

  test('headers without an end are refused', async () => {
    const raw = Buffer.from(`From: a@b.example\r\n${'X-A: b\r\n'.repeat(200_000)}`)
    await expect(parseMime(raw)).rejects.toThrow(/header/i)
  })

  test.each([
    ['an unknown character set', 'Content-Type: text/plain; charset=klingon', 'Hello'],
    ['a broken transfer encoding', 'Content-Transfer-Encoding: base64', '%%%%'],
    ['a boundary that never comes', 'Content-Type: multipart/mixed; boundary=never', 'Hello'],
    ['broken encoded words', 'Subject: =?utf-8?B?%%%?= =?x?Q?', 'Hello'],
  ])('%s is still a message', async (_, head, body) => {
    expect(await receive(plain(head, body))).toMatchObject({ externalId: '<1@example.com>' })
  })
})
