import { createHmac } from 'node:crypto'
import type { Target } from '../load/statistics.ts'
import {
  type Expected,
  FORM_END,
  FORM_TYPE,
  formField,
  formFile,
  type HostileInput,
  joinBytes,
  MB,
  postBytes,
  repeatText,
  tinyFields,
} from './input.ts'
import { createChannel } from './channels.ts'

/** The signature of Twilio covers this address. */
export const PUBLIC_URL = 'https://bench.example'

const SECRET = 'the-secret-of-the-channel'
const ORIGIN = 'https://shop.example'
const JSON_TYPE = { 'content-type': 'application/json' }

/** Calls of providers that carry what a stranger wrote, and calls that a stranger makes. */
export async function listHookInputs(server: Target): Promise<HostileInput[]> {
  return [
    ...postmarkInputs(await openHook(server, 'postmark')),
    ...mailgunInputs(await openHook(server, 'mailgun')),
    ...chatInputs(await openHook(server, 'slack'), 'slack', signForSlack),
    ...chatInputs(await openHook(server, 'telegram'), 'telegram', () => ({
      'x-telegram-bot-api-secret-token': SECRET,
    })),
    ...twilioInputs(await openHook(server, 'twilio')),
    ...widgetInputs(await openHook(server, 'widget', { origins: [ORIGIN] })),
  ]
}

/** A mail with an attachment, for which the service needs a file storage. */
export async function attachmentInput(server: Target, megabytes: number): Promise<HostileInput> {
  return postmarkAttachment(await openHook(server, 'postmark'), megabytes)
}

async function openHook(server: Target, adapter: string, config: object = {}): Promise<string> {
  const secret = adapter === 'widget' ? null : SECRET
  return `/v1/hooks/${await createChannel(server, { adapter, config, secret })}`
}

function postmarkInputs(path: string): HostileInput[] {
  const text = (line: string) =>
    postmarkCall(path, `postmark, 30 MB of "${line}\\n"`, 'accepted', () => {
      // A line break has two bytes in JSON.
      const value = repeatText(`${line}\\n`, Math.floor((30 * MB) / (line.length + 2)) * (line.length + 2))
      return joinBytes(mailStart(), '"TextBody":"', value, '"}')
    })
  const values = (name: string, value: string) =>
    postmarkCall(path, `postmark, 50 MB of ${name}`, 'refused', () =>
      joinBytes('{"a":[', repeatText(`${value},`, 50 * MB - 16 - ((50 * MB) % 3)), `${value}]}`),
    )
  return [
    text('on x'),
    text('from: x'),
    values('numbers', '1'),
    values('empty lists', '[]'),
    postmarkAttachment(path, 9),
    postmarkAttachment(path, 30),
  ]
}

/** Of base64 that has so many megabytes. */
const postmarkAttachment = (path: string, megabytes: number): HostileInput =>
  postmarkCall(path, `postmark, attachment of ${megabytes} MB in base64`, 'accepted', () =>
    joinBytes(
      mailStart(),
      '"TextBody":"See the file.","Attachments":[{"Name":"a.pdf","ContentType":"application/pdf","Content":"',
      repeatText('QUJD', megabytes * MB),
      '"}]}',
    ),
  )

function postmarkCall(path: string, name: string, expect: Expected, build: () => Buffer): HostileInput {
  const authorization = `Basic ${Buffer.from(`any:${SECRET}`).toString('base64')}`
  const call = { path, headers: { ...JSON_TYPE, authorization }, expect }
  return { name, build, send: (server, bytes) => postBytes(server, call, bytes) }
}

let mails = 0

/** Each mail is a new one for the service. */
const mailStart = (): string =>
  `{"FromFull":{"Email":"kim@test.example","Name":"Kim"},"Subject":"Mail ${++mails}",` +
  `"Headers":[{"Name":"Message-ID","Value":"<m${mails}@test.example>"}],`

function mailgunInputs(path: string): HostileInput[] {
  const call = (name: string, expect: Expected, build: () => Buffer, contentType = FORM_TYPE): HostileInput => ({
    name: `mailgun, ${name}`,
    build,
    send: (server, bytes) => postBytes(server, { path, headers: { 'content-type': contentType }, expect }, bytes),
  })
  const fields = () => tinyFields(36 * MB)
  const attachment = () => formFile('attachment-1', repeatText('%PDF', 30 * MB))
  return [
    call('36 MB of tiny fields, signed', 'refused', () => joinBytes(signedFields(), fields(), FORM_END)),
    call('36 MB of tiny fields, without a signature', 'refused', () => joinBytes(fields(), FORM_END)),
    call(
      '36 MB of tiny fields, two boundaries',
      'refused',
      () => joinBytes(fields(), FORM_END),
      `${FORM_TYPE}; boundary=z`,
    ),
    call('attachment of 30 MB, signed', 'accepted', () => joinBytes(signedFields(), attachment(), FORM_END)),
    call('attachment of 30 MB, without a signature', 'refused', () => joinBytes(attachment(), FORM_END)),
  ]
}

function signedFields(): string {
  const values = { timestamp: String(Math.floor(Date.now() / 1000)), token: `token-${++mails}` }
  const signature = createHmac('sha256', SECRET).update(`${values.timestamp}${values.token}`).digest('hex')
  const mail = { from: 'Kim <kim@test.example>', subject: `Mail ${mails}`, 'body-plain': 'See the file.' }
  return Object.entries({ ...values, signature, ...mail })
    .map(([name, value]) => formField(name, value))
    .join('')
}

/** The limit for the body of Slack and Telegram is 1 MiB. */
function chatInputs(path: string, adapter: string, sign: (body: Buffer) => Record<string, string>): HostileInput[] {
  const call = (name: string, expect: Expected, build: () => Buffer): HostileInput => ({
    name: `${adapter}, 1 MB of ${name}`,
    times: 10,
    build,
    send: (server, bytes) => postBytes(server, { path, headers: { ...JSON_TYPE, ...sign(bytes) }, expect }, bytes),
  })
  const list = (value: string) =>
    joinBytes('{"a":[', repeatText(`${value},`, fill(`${value},`, MB - 200)), `${value}]}`)
  return [
    call('empty lists', 'refused', () => list('[]')),
    // As many values as are accepted.
    call('9,000 texts', 'accepted', () => list(`"${'x'.repeat(112)}"`)),
  ]
}

/** The largest multiple of the length of the text. */
const fill = (text: string, bytes: number): number => bytes - (bytes % text.length)

function signForSlack(body: Buffer): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000))
  const mac = createHmac('sha256', SECRET).update(`v0:${time}:`).update(body).digest('hex')
  return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${mac}` }
}

/** The limit for the body is 256 KiB. */
function twilioInputs(path: string): HostileInput[] {
  const call = (name: string, expect: Expected, build: () => Buffer): HostileInput => ({
    name: `twilio, 256 KB of ${name}`,
    times: 10,
    build,
    send(server, bytes) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signForTwilio(path, bytes) }
      return postBytes(server, { path, headers, expect }, bytes)
    },
  })
  const fields = Array.from({ length: 990 }, (_, n) => `field${1000 + n}=${'x'.repeat(239)}`)
  return [
    call('empty fields', 'refused', () => repeatText('a&', 256 * 1024)),
    call('990 fields', 'accepted', () => Buffer.from(fields.join('&'))),
  ]
}

function signForTwilio(path: string, body: Buffer): Record<string, string> {
  const fields = [...new URLSearchParams(body.toString())].map(([name, value]) => name + value)
  const signed = `${PUBLIC_URL}${path}${fields.toSorted().join('')}`
  return { 'x-twilio-signature': createHmac('sha1', SECRET).update(signed).digest('base64') }
}

/** The limit for the body is 64 KiB. */
const widgetInputs = (path: string): HostileInput[] => [
  {
    name: 'widget, 64 KB of empty lists',
    times: 10,
    build: () => joinBytes('{"a":[', repeatText('[],', fill('[],', 65_000)), '[]]}'),
    send: (server, bytes) =>
      postBytes(server, { path, headers: { ...JSON_TYPE, origin: ORIGIN }, expect: 'refused' }, bytes),
  },
]
