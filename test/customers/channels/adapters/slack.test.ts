import { createHmac } from 'node:crypto'
import { verifySlackRequest } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slackAdapter } from '../../../../src/customers/channels/adapters/slack.ts'
import { respondJson } from '../../../fake-upstream.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET, openAdapterTest, readIncoming, sortedFields } from './adapter-fixtures.ts'

const sign = (body: string, time: number | string, secret = CHANNEL_SECRET) => ({
  'x-slack-request-timestamp': String(time),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')}`,
})

const EVENT = {
  type: 'event_callback',
  team_id: 'T1',
  event_id: 'Ev1',
  authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
  event: {
    type: 'message',
    channel: 'C1',
    channel_type: 'channel',
    user: 'U1',
    text: 'Hello',
    ts: '1700000000.000100',
  },
}

const eventWith = (event: object, more: object = {}) => ({ ...EVENT, ...more, event: { ...EVENT.event, ...event } })

test('a call is accepted exactly when the library of Slack accepts it', async () => {
  const { call, verify, clock } = await openAdapterTest(slackAdapter)
  const now = Math.floor(clock.now() / 1000)
  const isAcceptedByBolt = (body: string, headers: ReturnType<typeof sign>) => {
    try {
      const time = Number(headers['x-slack-request-timestamp'])
      verifySlackRequest({
        signingSecret: CHANNEL_SECRET,
        body,
        headers: { ...headers, 'x-slack-request-timestamp': time },
        nowMilliseconds: clock.now(),
      })
      return true
    } catch {
      return false
    }
  }
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: -600, max: 300 }),
      fc.constantFrom('none', 'secret', 'body', 'time', 'version'),
      async (body, age, damage) => {
        const headers = sign(body, now + age, damage === 'secret' ? 'another' : CHANNEL_SECRET)
        if (damage === 'time') headers['x-slack-request-timestamp'] = String(now + age + 1)
        if (damage === 'version') headers['x-slack-signature'] = headers['x-slack-signature'].replace('v0', 'v1')
        const received = damage === 'body' ? `${body} ` : body
        const isAccepted = (await verify(call(received, headers))) === 200
        accepted += Number(isAccepted)
        expect(isAccepted).toBe(isAcceptedByBolt(received, headers))
      },
    ),
    { numRuns: 300 },
  )
  expect(accepted).toBeGreaterThan(10)
})

test('a call that is old, early, unsigned or for a channel without a secret is refused', async () => {
  const { call, verify, clock } = await openAdapterTest(slackAdapter)
  const now = Math.floor(clock.now() / 1000)
  expect(await verify(call('{}', sign('{}', now - 300)))).toBe(200)
  expect(await verify(call('{}', sign('{}', now - 301)))).toBe(401)
  expect(await verify(call('{}', sign('{}', now + 301)))).toBe(401)
  expect(await verify(call('{}', sign('{}', `${now}x`)))).toBe(401)
  expect(await verify(call('{}'))).toBe(401)
  expect(await verify(call('{}', sign('{}', now, ''), { secret: null }))).toBe(401)
})

test('the check of the address is answered with its challenge', async () => {
  const { hook, ctx, call } = await openAdapterTest(slackAdapter)
  const content = await hook.parse(ctx, call({ type: 'url_verification', challenge: '3eZbrw1a', token: 'old' }))
  expect(content.messages).toEqual([])
  expect(JSON.parse(content.response?.body ?? '')).toEqual({ challenge: '3eZbrw1a' })
})

test('a message in a channel is a conversation of its thread', async () => {
  const { hook, ctx, call } = await openAdapterTest(slackAdapter)
  const { messages } = await hook.parse(ctx, call(eventWith({ user_profile: { real_name: 'Ada' } })))
  expect(messages).toEqual([
    {
      externalId: 'C1:1700000000.000100',
      from: { handle: 'slack:T1:U1', name: 'Ada' },
      body: 'Hello',
      subject: null,
      conversationKey: 'C1:1700000000.000100',
      address: { channel: 'C1', thread_ts: '1700000000.000100' },
      files: [],
    },
  ])
  const later = await hook.parse(ctx, call(eventWith({ ts: '1700000001.000100', thread_ts: '1700000000.000100' })))
  expect(later.messages).toMatchObject([
    { conversationKey: 'C1:1700000000.000100', address: { channel: 'C1', thread_ts: '1700000000.000100' } },
  ])
})

test('a direct conversation is one conversation, and an answer in a thread of it continues it', async () => {
  const { hook, ctx, call } = await openAdapterTest(slackAdapter)
  const direct = { channel: 'D1', channel_type: 'im', ts: '2.2', thread_ts: '1.1' }
  expect((await hook.parse(ctx, call(eventWith(direct)))).messages).toMatchObject([
    { conversationKey: 'D1', continues: { externalIds: ['D1:1.1'], replyToken: null }, address: { thread_ts: '1.1' } },
  ])
})

test('a mention and a message event about one message have one id', async () => {
  const { hook, ctx, call } = await openAdapterTest(slackAdapter)
  const text = '<@UBOT> where is <https://shop.example/7|order 7>? &lt;b&gt; &amp; <@U2|bob>'
  const [mention, message] = await Promise.all(
    ['app_mention', 'message'].map((type) => hook.parse(ctx, call(eventWith({ type, text }, { event_id: type })))),
  )
  expect(mention?.messages).toEqual(message?.messages)
  expect(message?.messages[0]?.body).toBe('where is order 7 (https://shop.example/7)? <b> & bob')
})

test.each([
  ['of a bot', { bot_id: 'B1' }],
  ['of this app', { subtype: 'bot_message', bot_id: 'B1' }],
  ['about an edit', { subtype: 'message_changed' }],
  ['about a join', { subtype: 'channel_join' }],
  ['about a reaction', { type: 'reaction_added' }],
  ['without a sender', { user: undefined }],
])('an event %s has no messages', async (_, event) => {
  const { hook, ctx, call } = await openAdapterTest(slackAdapter)
  expect((await hook.parse(ctx, call(eventWith(event)))).messages).toEqual([])
})

test('a file is fetched with the token of the connection, which no other server gets', async () => {
  const { hook, ctx, call, provider } = await openAdapterTest(slackAdapter, {}, (request, response) => {
    if (request.url === '/login') response.writeHead(302, { location: '/' }).end()
    else response.end('bytes')
  })
  const files = [
    { id: 'F1', name: 'a.pdf', mimetype: 'application/pdf', url_private: `${provider.url}/files/a.pdf` },
    { id: 'F2', name: 'b.pdf', mode: 'external', url_private: 'https://elsewhere.example/b.pdf' },
    { id: 'F3', url_private: `${provider.url}/login` },
  ]
  const { messages } = await hook.parse(ctx, call(eventWith({ subtype: 'file_share', files })))
  const received = messages[0]?.files ?? []
  expect(received.map(({ name, contentType }) => [name, contentType])).toEqual([
    ['a.pdf', 'application/pdf'],
    ['F3', 'application/octet-stream'],
  ])
  expect(await readIncoming(received[0])).toBe('bytes')
  expect(provider.received[0]?.headers.authorization).toBe(`Bearer ${CONNECTION_SECRET}`)
  // Slack sends a caller without the scope files:read to the page where people sign in.
  await expect(readIncoming(received[1])).rejects.toThrow('it could not be downloaded: the server answered 302')
})

test('a reply is what the client of Slack sends', async () => {
  const answer = { ok: true, channel: 'C1', ts: '1700000009.000900' }
  const { reply, provider } = await openAdapterTest(slackAdapter, {}, (_, response) =>
    respondJson(response, 200, answer),
  )
  const sent = await reply({ channel: 'C1', thread_ts: '1700000000.000100' }, 'Tomorrow & <!channel>')
  expect(sent).toMatchObject({ ok: true, externalId: 'C1:1700000009.000900' })
  const client = new WebClient(CONNECTION_SECRET, { slackApiUrl: `${provider.url}/`, retryConfig: { retries: 0 } })
  const message = { channel: 'C1', thread_ts: '1700000000.000100', text: 'Tomorrow &amp; &lt;!channel&gt;' }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is not the method of a window
  await client.chat.postMessage(message)
  const [ours, theirs] = provider.received
  expect(ours?.url).toBe(theirs?.url)
  expect(ours?.headers.authorization).toBe(theirs?.headers.authorization)
  expect(sortedFields(ours?.body)).toEqual(sortedFields(theirs?.body))
})

test.each([
  ['channel_not_found', { ok: false, unclear: false, error: 'slack answered channel_not_found' }],
  ['internal_error', { ok: false, unclear: true, error: 'slack answered internal_error' }],
])('a reply that Slack answers with %s failed', async (error, expected) => {
  const { reply } = await openAdapterTest(slackAdapter, {}, (_, response) =>
    respondJson(response, 200, { ok: false, error }),
  )
  expect(await reply({ channel: 'C1', thread_ts: '1.1' }, 'Hi')).toMatchObject({ ...expected, externalId: null })
})

test('a reply with files is what the client of Slack sends', async () => {
  const { reply, storeFile, provider } = await openAdapterTest(slackAdapter, {}, (request, response) => {
    if (!request.url.endsWith('getUploadURLExternal')) return respondJson(response, 200, { ok: true, files: [] })
    const name = new URLSearchParams(request.body).get('filename')
    respondJson(response, 200, { ok: true, file_id: `F-${name}`, upload_url: `${provider.url}/upload/${name}` })
  })
  const files = [await storeFile('a.txt', 'first'), await storeFile('b.txt', 'second')]
  const sent = await reply({ channel: 'C1', thread_ts: '1.1' }, 'See these', files)
  expect(sent).toMatchObject({ ok: true, externalId: null })
  const ours = provider.received.splice(0)
  const client = new WebClient(CONNECTION_SECRET, { slackApiUrl: `${provider.url}/`, retryConfig: { retries: 0 } })
  const file_uploads = [
    { filename: 'a.txt', file: Buffer.from('first'), title: 'a.txt' },
    { filename: 'b.txt', file: Buffer.from('second'), title: 'b.txt' },
  ]
  await client.filesUploadV2({ channel_id: 'C1', thread_ts: '1.1', initial_comment: 'See these', file_uploads })
  const methods = ({ url }: { url: string }) => url.startsWith('/files.')
  const essence = ({ url, body }: { url: string; body: string }) => [url, ...sortedFields(body)].join(' ')
  expect(ours.filter(methods).map(essence).toSorted()).toEqual(
    provider.received.filter(methods).map(essence).toSorted(),
  )
  expect(ours.filter(({ url }) => url.startsWith('/upload/')).map(({ body }) => body)).toEqual(['first', 'second'])
  expect(ours.map(({ headers }) => headers.authorization === undefined)).toEqual([false, true, false, true, false])
})

test('a file that Slack does not take is a certain failure, and nothing is posted', async () => {
  const { reply, storeFile, provider } = await openAdapterTest(slackAdapter, {}, (request, response) => {
    if (request.url === '/upload') response.destroy()
    else respondJson(response, 200, { ok: true, file_id: 'F1', upload_url: `${provider.url}/upload` })
  })
  const files = [await storeFile('a.txt', 'first')]
  await expect(reply({ channel: 'C1', thread_ts: '1.1' }, 'See', files)).rejects.toThrow(
    /^slack did not take the file 'a.txt': the connection closed/,
  )
  expect(provider.received.map(({ url }) => url)).toEqual(['/files.getUploadURLExternal', '/upload'])
})
