import fc from 'fast-check'
import twilio from 'twilio'
import { expect, test } from 'vitest'
import { twilioAdapter } from '../../../../src/customers/channels/adapters/twilio.ts'
import { twilioClientAt } from '../../../connections/twilio-client.ts'
import { respondJson } from '../../../fake-upstream.ts'
import { openHookApp } from './hook-app.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET, openAdapterTest, readIncoming, sortedFields } from './adapter-fixtures.ts'

const HEADER = 'x-twilio-signature'
const ACCOUNT = 'AC00000000000000000000000000000000'
const URL_OF_HOOK = 'https://desk.example/v1/hooks/chan_1'

const SMS = {
  MessageSid: 'SM1',
  SmsStatus: 'received',
  AccountSid: ACCOUNT,
  From: '+4915112345678',
  To: '+4930123',
  Body: 'Hello',
  NumMedia: '0',
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const address = fc.constantFrom(
  URL_OF_HOOK,
  `${URL_OF_HOOK}?a=1&b=two%20words`,
  'https://desk.example:443/v1/hooks/chan_1',
  'http://desk.example:8080/v1/hooks/chan_1',
  'http://desk.example/v1/hooks/chan_1',
)

const fields = fc.array(fc.tuple(fc.constantFrom('Body', 'From', 'A', 'a', 'Ä', 'B[0]'), fc.string({ unit: 'binary' })))

test('a call is accepted exactly when the library of Twilio accepts it', async () => {
  const { call, verify } = await openAdapterTest(twilioAdapter)
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(
      address,
      fields,
      fc.constantFrom('none', 'port', 'secret', 'body', 'address', 'signature'),
      async (url, list, damage) => {
        const body = new URLSearchParams(list).toString()
        const received = damage === 'body' ? `${body}&Extra=1` : body
        const params = paramsOf(body)
        const signed = damage === 'port' ? togglePort(url) : damage === 'address' ? `${url}x` : url
        const secret = damage === 'secret' ? 'another' : CHANNEL_SECRET
        const right = twilio.getExpectedTwilioSignature(secret, signed, params)
        const signature = damage === 'signature' ? right.slice(0, -2) : right
        const isAccepted = (await verify(call(received, { [HEADER]: signature }, { url }))) === 200
        accepted += Number(isAccepted)
        expect(isAccepted).toBe(twilio.validateRequest(CHANNEL_SECRET, signature, url, paramsOf(received)))
      },
    ),
    { numRuns: 400 },
  )
  expect(accepted).toBeGreaterThan(20)
})

/** As a server gets it from a parser of forms: a name that is repeated has a list. */
function paramsOf(body: string): Record<string, string | string[]> {
  const params = new URLSearchParams(body)
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

function togglePort(url: string): string {
  if (/:(443|80)\//.test(url)) return url.replace(/:(443|80)\//, '/')
  return url.replace(
    /^(https?):\/\/([^/:]+)\//,
    (_, scheme, host) => `${scheme}://${host}:${scheme === 'https' ? 443 : 80}/`,
  )
}

test('a call with very many fields is refused before its signature is computed', async () => {
  const app = await openHookApp('sqlite', { adapter: 'twilio', connection: { account_sid: 'AC1' } })
  const body = Array.from({ length: 20_000 }, (_, n) => `f${n}=`).join('&')
  const { status } = await app.deliver(body, { 'content-type': 'application/x-www-form-urlencoded' })
  expect(status).toBe(400)
})

test('an unsigned call, and a call to a channel without a secret, are refused', async () => {
  const { call, verify } = await openAdapterTest(twilioAdapter)
  expect(await verify(call(form(SMS)))).toBe(401)
  const signature = twilio.getExpectedTwilioSignature('', URL_OF_HOOK, SMS)
  expect(await verify(call(form(SMS), { [HEADER]: signature }, { secret: null }))).toBe(401)
})

test('an SMS is parsed, and Twilio gets an empty answer in TwiML', async () => {
  const { hook, ctx, call } = await openAdapterTest(twilioAdapter)
  const { messages, response } = await hook.parse(ctx, call(form({ ...SMS, Body: 'a\0b' })))
  expect(messages).toEqual([
    {
      externalId: 'SM1',
      from: { handle: '+4915112345678', name: null },
      body: 'ab',
      subject: null,
      conversationKey: '',
      address: { to: '+4915112345678', from: '+4930123' },
      files: [],
      isAutomatic: false,
    },
  ])
  expect(response).toEqual({
    contentType: 'text/xml',
    body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>',
  })
})

test('a WhatsApp message is of the same client, in a conversation of its own, and is answered on WhatsApp', async () => {
  const { hook, ctx, call } = await openAdapterTest(twilioAdapter, { from: '+4930999' })
  const whatsapp = { ...SMS, From: 'whatsapp:+4915112345678', To: 'whatsapp:+4930123', ProfileName: 'Ada' }
  expect((await hook.parse(ctx, call(form(whatsapp)))).messages).toMatchObject([
    {
      from: { handle: '+4915112345678', name: 'Ada' },
      conversationKey: 'whatsapp',
      address: { to: 'whatsapp:+4915112345678', from: 'whatsapp:+4930999' },
    },
  ])
  expect((await hook.parse(ctx, call(form(SMS)))).messages).toMatchObject([{ address: { from: '+4930999' } }])
})

test('a report about a sent message has no messages, and STOP starts nothing', async () => {
  const { hook, ctx, call } = await openAdapterTest(twilioAdapter)
  const report = form({ MessageSid: 'SM1', MessageStatus: 'delivered', From: '+1', To: '+2' })
  expect((await hook.parse(ctx, call(report))).messages).toEqual([])
  const stop = form({ ...SMS, Body: 'STOP', OptOutType: 'STOP' })
  expect((await hook.parse(ctx, call(stop))).messages).toMatchObject([{ isAutomatic: true }])
})

test('media are fetched with the credential, which the server behind a redirect does not get', async () => {
  const { hook, ctx, call, provider } = await openAdapterTest(
    twilioAdapter,
    { account_sid: ACCOUNT },
    (request, response) => {
      if (request.url === '/media/1') response.writeHead(307, { location: '/stored/1' }).end()
      else if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end()
      else response.end('bytes')
    },
  )
  const media = {
    NumMedia: '3',
    MediaUrl0: `${provider.url}/media/1`,
    MediaContentType0: 'image/jpeg',
    MediaUrl1: 'https://elsewhere.example/1',
    MediaUrl2: `${provider.url}/loop`,
  }
  const [message] = (await hook.parse(ctx, call(form({ ...SMS, ...media, Body: '' })))).messages
  expect(message?.files.map(({ name, contentType }) => [name, contentType])).toEqual([
    ['media-1.jpeg', 'image/jpeg'],
    ['media-3.octet-stream', 'application/octet-stream'],
  ])
  expect(await readIncoming(message?.files[0])).toBe('bytes')
  const credentials = Buffer.from(`${ACCOUNT}:${CONNECTION_SECRET}`).toString('base64')
  expect(provider.received.map(({ headers }) => headers.authorization)).toEqual([`Basic ${credentials}`, undefined])
  await expect(readIncoming(message?.files[1])).rejects.toThrow('the server answered 307')
})

test.each([
  ['of its own', (url: string) => ({ base_url: url, account_sid: ACCOUNT })],
  [
    'of the preset',
    (url: string) => ({
      base_url: `${url}/2010-04-01/Accounts/${ACCOUNT}`,
      auth: { type: 'basic', username: ACCOUNT },
    }),
  ],
])('with a connection %s, a reply is what the client of Twilio sends', async (_, config) => {
  const opened = await openAdapterTest(twilioAdapter, {}, (_request, response) =>
    respondJson(response, 201, { sid: 'SM9', status: 'queued' }),
  )
  opened.connection.config = config(opened.provider.url)
  const sent = await opened.reply({ to: '+4915112345678', from: '+4930123' }, 'Tomorrow & later')
  expect(sent).toMatchObject({ ok: true, externalId: 'SM9' })
  await twilioClientAt(opened.provider.url, ACCOUNT, CONNECTION_SECRET).messages.create({
    to: '+4915112345678',
    from: '+4930123',
    body: 'Tomorrow & later',
  })
  const [ours, theirs] = opened.provider.received
  expect(ours?.url).toBe(theirs?.url)
  expect(ours?.headers.authorization).toBe(theirs?.headers.authorization)
  expect(sortedFields(ours?.body)).toEqual(sortedFields(theirs?.body))
})

test('a reply that Twilio refuses says why', async () => {
  const { reply } = await openAdapterTest(twilioAdapter, { account_sid: ACCOUNT }, (_, response) =>
    respondJson(response, 400, { code: 21610, message: 'Attempt to send to unsubscribed recipient' }),
  )
  expect(await reply({ to: '+1', from: '+2' }, 'Hi')).toMatchObject({
    ok: false,
    status: 400,
    error: 'Attempt to send to unsubscribed recipient',
  })
})

test('a reply with a file is refused before a person is asked', async () => {
  const { reply, storeFile } = await openAdapterTest(twilioAdapter, { account_sid: ACCOUNT })
  const files = [await storeFile('a.txt', 'first')]
  await expect(reply({ to: '+1', from: '+2' }, 'Hi', files)).rejects.toThrow('cannot carry files')
})
