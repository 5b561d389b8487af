import { Busboy } from '@fastify/busboy'
import { Bot, InputFile, InputMediaBuilder, webhookCallback } from 'grammy'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { telegramAdapter } from '../../../../src/customers/channels/adapters/telegram.ts'
import { canonicalJson } from '../../../../src/platform/base/json.ts'
import { type ReceivedRequest, respondJson } from '../../../fake-upstream.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET, openAdapterTest, readIncoming } from './adapter-fixtures.ts'

const HEADER = 'x-telegram-bot-api-secret-token'

const PRIVATE_CHAT = { id: 7, type: 'private', first_name: 'Ada' }
const ADA = { id: 7, is_bot: false, first_name: 'Ada', last_name: 'Lovelace', language_code: 'en' }

const updateWith = (message: object, more: object = {}) => ({
  update_id: 100,
  message: { message_id: 5, date: 1_700_000_000, chat: PRIVATE_CHAT, from: ADA, text: 'Hello', ...message },
  ...more,
})

const BOT_INFO = {
  id: 1,
  is_bot: true as const,
  first_name: 'Desk',
  username: 'desk_bot',
} as NonNullable<ConstructorParameters<typeof Bot>[1]>['botInfo']

/** The webhook of the library of Telegram bots, with the same secret. */
function grammyWebhook() {
  const bot = new Bot('1:token', { ...(BOT_INFO && { botInfo: BOT_INFO }) })
  const seen: string[] = []
  bot.on('message:text', (context) => void seen.push(context.message.text))
  const handle = webhookCallback(bot, 'std/http', { secretToken: CHANNEL_SECRET })
  const call = async (body: string, token: string | null) => {
    const headers = { 'content-type': 'application/json', ...(token !== null && { [HEADER]: token }) }
    return (await handle(new Request('https://desk.example/', { method: 'POST', headers, body }))).status
  }
  return { call, seen }
}

test('a call is accepted exactly when the library of Telegram bots accepts it', async () => {
  const { call, verify } = await openAdapterTest(telegramAdapter)
  const grammy = grammyWebhook()
  const body = JSON.stringify(updateWith({}))
  const token = fc.oneof(
    fc.constantFrom(CHANNEL_SECRET, '', CHANNEL_SECRET.slice(1), `${CHANNEL_SECRET}x`, CHANNEL_SECRET.toUpperCase()),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
    fc.constant(null),
  )
  await fc.assert(
    fc.asyncProperty(token, async (sent) => {
      const ours = await verify(call(body, sent === null ? {} : { [HEADER]: sent }))
      expect(ours).toBe(await grammy.call(body, sent))
    }),
    { numRuns: 100, examples: [[CHANNEL_SECRET], ['wrong'], [null]] },
  )
  expect(grammy.seen.length).toBeGreaterThan(0)
  expect(await verify(call(body, { [HEADER]: '' }, { secret: null }))).toBe(401)
})

test('a message of a person is parsed', async () => {
  const { hook, ctx, call } = await openAdapterTest(telegramAdapter)
  const { messages } = await hook.parse(ctx, call(updateWith({})))
  expect(messages).toEqual([
    {
      externalId: '100:7:5',
      from: { handle: 'telegram:7', name: 'Ada Lovelace' },
      body: 'Hello',
      subject: null,
      conversationKey: '7',
      address: { chat_id: 7 },
      files: [],
    },
  ])
})

test('each topic of a group is a conversation, and the answer goes to the topic', async () => {
  const { hook, ctx, call } = await openAdapterTest(telegramAdapter)
  const group = { chat: { id: -100, type: 'supergroup' }, message_thread_id: 3, is_topic_message: true }
  expect((await hook.parse(ctx, call(updateWith(group)))).messages).toMatchObject([
    { conversationKey: '-100:3', address: { chat_id: -100, message_thread_id: 3 }, from: { handle: 'telegram:7' } },
  ])
})

test.each([
  ['a location', { text: undefined, location: { latitude: 52.5, longitude: 13.4 } }, 'Location: 52.5, 13.4'],
  ['a contact', { text: undefined, contact: { phone_number: '+49', first_name: 'Bo' } }, 'Contact: Bo +49'],
  ['a sticker', { text: undefined, sticker: { emoji: '👍', file_id: 'S' } }, '👍'],
])('%s is told in words', async (_, message, body) => {
  const { hook, ctx, call } = await openAdapterTest(telegramAdapter)
  expect((await hook.parse(ctx, call(updateWith(message)))).messages).toMatchObject([{ body }])
})

test.each([
  ['an edited message', { update_id: 1, edited_message: updateWith({}).message }],
  ['a post of a channel', { update_id: 1, channel_post: updateWith({}).message }],
  ['a message of a bot', updateWith({ from: { ...ADA, is_bot: true } })],
  ['a service message', updateWith({ text: undefined, new_chat_members: [ADA] })],
])('%s has no messages', async (_, update) => {
  const { hook, ctx, call } = await openAdapterTest(telegramAdapter)
  expect((await hook.parse(ctx, call(update))).messages).toEqual([])
})

test('the largest photo and a document are fetched by getFile', async () => {
  const { hook, ctx, call, provider, logged } = await openAdapterTest(telegramAdapter, {}, (request, response) => {
    if (!request.url.endsWith('/getFile')) return void response.end(`bytes of ${request.url.split('/').at(-1)}`)
    const { file_id } = JSON.parse(request.body)
    if (file_id === 'gone') return respondJson(response, 400, { ok: false, description: 'file is too big' })
    respondJson(response, 200, { ok: true, result: { file_id, file_path: `photos/${file_id}.bin` } })
  })
  const photo = [{ file_id: 'small' }, { file_id: 'large' }]
  const document = { file_id: 'doc', file_name: 'invoice.pdf', mime_type: 'application/pdf' }
  const update = updateWith({ text: undefined, caption: 'See this', photo, document })
  const [message] = (await hook.parse(ctx, call(update))).messages
  expect(message?.body).toBe('See this')
  expect(message?.files.map(({ name, contentType }) => [name, contentType])).toEqual([
    ['photo.jpg', 'image/jpeg'],
    ['invoice.pdf', 'application/pdf'],
  ])
  expect(await readIncoming(message?.files[0])).toBe('bytes of large.bin')
  expect(await readIncoming(message?.files[1])).toBe('bytes of doc.bin')
  expect(provider.received.map(({ url }) => url)).toEqual([
    `/bot${CONNECTION_SECRET}/getFile`,
    `/file/bot${CONNECTION_SECRET}/photos/large.bin`,
    `/bot${CONNECTION_SECRET}/getFile`,
    `/file/bot${CONNECTION_SECRET}/photos/doc.bin`,
  ])
  const [voice] = (await hook.parse(ctx, call(updateWith({ text: undefined, voice: { file_id: 'gone' } })))).messages
  await expect(readIncoming(voice?.files[0])).rejects.toThrow('it could not be downloaded: file is too big')
  expect(logged.join()).not.toContain(CONNECTION_SECRET)
})

test('a reply is what the library of Telegram bots sends', async () => {
  const result = { message_id: 9, date: 1, chat: PRIVATE_CHAT, text: 'Tomorrow' }
  const { reply, provider } = await openAdapterTest(telegramAdapter, {}, (_, response) =>
    respondJson(response, 200, { ok: true, result }),
  )
  const sent = await reply({ chat_id: 7, message_thread_id: 3 }, 'Tomorrow <b>')
  expect(sent).toMatchObject({ ok: true, externalId: '7:9', secrets: [CONNECTION_SECRET] })
  const bot = new Bot(CONNECTION_SECRET, { client: { apiRoot: provider.url } })
  await bot.api.sendMessage(7, 'Tomorrow <b>', { message_thread_id: 3 })
  const [ours, theirs] = provider.received
  expect(ours?.url).toBe(theirs?.url)
  expect(JSON.parse(ours?.body ?? '')).toEqual(JSON.parse(theirs?.body ?? ''))
})

test('a reply that Telegram refuses says why', async () => {
  const { reply } = await openAdapterTest(telegramAdapter, {}, (_, response) =>
    respondJson(response, 403, { ok: false, description: 'Forbidden: bot was blocked by the user' }),
  )
  expect(await reply({ chat_id: 7 }, 'Hi')).toMatchObject({
    ok: false,
    status: 403,
    error: 'Forbidden: bot was blocked by the user',
  })
})

test('a reply with one file or several is what the library of Telegram bots sends', async () => {
  const result = { message_id: 9, date: 1, chat: PRIVATE_CHAT }
  const { reply, storeFile, provider } = await openAdapterTest(telegramAdapter, {}, ({ url }, response) =>
    respondJson(response, 200, { ok: true, result: url.endsWith('sendMediaGroup') ? [result] : result }),
  )
  const files = [await storeFile('a.txt', 'first'), await storeFile('b.txt', 'second')]
  expect(await reply({ chat_id: 7 }, 'See this', files.slice(0, 1))).toMatchObject({ ok: true, externalId: '7:9' })
  expect(await reply({ chat_id: 7 }, 'See these', files)).toMatchObject({ ok: true, externalId: '7:9' })
  const bot = new Bot(CONNECTION_SECRET, { client: { apiRoot: provider.url } })
  const [first, second] = [new InputFile(Buffer.from('first'), 'a.txt'), new InputFile(Buffer.from('second'), 'b.txt')]
  await bot.api.sendDocument(7, first, { caption: 'See this' })
  await bot.api.sendMediaGroup(7, [
    InputMediaBuilder.document(first, { caption: 'See these' }),
    InputMediaBuilder.document(second),
  ])
  const [one, several, theirOne, theirSeveral] = await Promise.all(provider.received.map(essence))
  expect(one).toEqual(theirOne)
  expect(several).toEqual(theirSeveral)
})

/** The method with its fields and the names and contents of its files. The names of attached parts are arbitrary. */
function essence({ url, headers, body }: ReceivedRequest): Promise<{ url: string; values: string[] }> {
  const values: string[] = []
  const parser = new Busboy({ headers: { 'content-type': headers['content-type'] ?? '' } })
  parser.on('field', (name, value) => {
    values.push(`${name}=${canonical(value.replaceAll(/attach:\/\/\w+/g, 'attach://file'))}`)
  })
  parser.on('file', (_name, stream, filename) => {
    stream.on('data', (content: Buffer) => values.push(`${filename}: ${content.toString()}`))
  })
  return new Promise((resolve, reject) => {
    parser.on('finish', () => resolve({ url, values: values.toSorted() }))
    parser.on('error', reject)
    parser.end(body)
  })
}

const canonical = (text: string): string => (text.startsWith('[') ? canonicalJson(JSON.parse(text)) : text)

test('a long text with files is refused before a person is asked', async () => {
  const { reply, storeFile } = await openAdapterTest(telegramAdapter)
  const files = [await storeFile('a.txt', 'first')]
  await expect(reply({ chat_id: 7 }, 'x'.repeat(1025), files)).rejects.toThrow('at most 1024 characters')
})
