import { Bot, InlineKeyboard } from 'grammy'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NoticeRefused } from '../../../src/approvals/notifications/notifier.ts'
import {
  editMessage,
  fieldMessage,
  textPrompt,
  toTelegramMessage,
} from '../../../src/approvals/notifications/telegram/telegram-card.ts'
import { toTelegramInteraction } from '../../../src/approvals/notifications/telegram/telegram-interaction.ts'
import { telegramNotifier } from '../../../src/approvals/notifications/telegram/telegram-notifier.ts'
import { CONNECTION_SECRET } from '../../customers/channels/adapters/adapter-fixtures.ts'
import { respondJson } from '../../fake-upstream.ts'
import { BOT_INFO } from './chat-judges.ts'
import { openNotifierTest, sampleCard } from './notifier-fixtures.ts'
import { clickUpdate, type TelegramMessage } from './telegram-app.ts'

const RESULT = { message_id: 9, date: 1, chat: { id: 7, type: 'private' } }

const reference = (card = sampleCard()) => `${card.approvalId}:${card.payloadSha256.slice(0, 24)}`

test('a message and its rewrite are what the library of Telegram bots sends', async () => {
  const { ctx, target, provider } = await openNotifierTest('telegram', (_, response) =>
    respondJson(response, 200, { ok: true, result: RESULT }),
  )
  const card = sampleCard({ title: 'Refund <b> & "more"' })
  const { externalId } = await telegramNotifier.post(ctx, target('7'), card)
  expect(externalId).toBe('7:9')
  await telegramNotifier.rewrite(ctx, target('7'), externalId, { ...card, outcome: 'Approved by Ada' })
  const bot = new Bot(CONNECTION_SECRET, { client: { apiRoot: provider.url } })
  const keyboard = new InlineKeyboard()
    .text('Approve', `a:${reference()}:0`)
    .text('Edit', `e:${reference()}:0`)
    .text('Send back', `v:${reference()}:0`)
    .text('Reject', `y:${reference()}:0`)
  const options = { parse_mode: 'HTML' as const, link_preview_options: { is_disabled: true } }
  const lines = [
    '<b>Refund &lt;b&gt; &amp; &quot;more&quot;</b>',
    'Risk: low · Amount: $50.00 · Client: Ada · Wedge: desk',
    '<blockquote>Where is my money?</blockquote>',
    '<b>text:</b> hello',
    '<a href="https://desk.example/tasks/task_1">Open in console</a>',
  ]
  await bot.api.sendMessage(7, lines.join('\n'), { ...options, reply_markup: keyboard })
  await bot.api.editMessageText(7, 9, [...lines, '<b>Approved by Ada</b>'].join('\n'), options)
  const [posted, rewritten, theirPost, theirRewrite] = provider.received
  expect([posted?.url, rewritten?.url]).toEqual([theirPost?.url, theirRewrite?.url])
  expect(JSON.parse(posted?.body ?? '')).toEqual(JSON.parse(theirPost?.body ?? ''))
  expect(JSON.parse(rewritten?.body ?? '')).toEqual(JSON.parse(theirRewrite?.body ?? ''))
})

test.each([
  [403, 'Forbidden: bot was blocked by the user', true],
  [400, 'Bad Request: chat not found', true],
  [429, 'Too Many Requests: retry after 5', false],
])('a message that Telegram answers with %s %s fails, and is final: %s', async (status, description, isFinal) => {
  const { ctx, target } = await openNotifierTest('telegram', (_, response) =>
    respondJson(response, status, { ok: false, error_code: status, description }),
  )
  const failure = await telegramNotifier.post(ctx, target('7'), sampleCard()).catch((thrown: Error) => thrown)
  expect(failure).toMatchObject({ message: description })
  expect(failure instanceof NoticeRefused).toBe(isFinal)
})

test('a rewrite that changes nothing has succeeded', async () => {
  const description = 'Bad Request: message is not modified'
  const { ctx, target } = await openNotifierTest('telegram', (_, response) =>
    respondJson(response, 400, { ok: false, error_code: 400, description }),
  )
  await telegramNotifier.rewrite(ctx, target('7'), '7:9', sampleCard())
})

test('a click is read as the library of Telegram bots reads it', async () => {
  const message = toTelegramMessage(sampleCard()) as unknown as TelegramMessage
  const bot = new Bot('1:token', { botInfo: BOT_INFO })
  const seen: unknown[] = []
  bot.callbackQuery(/^e:/, (context) => {
    const { data, id } = context.callbackQuery
    seen.push({ chat: String(context.chat?.id), queryId: id, message: String(context.msgId), data })
  })
  const update = clickUpdate(7, message, 'Edit')
  await bot.handleUpdate(update as Parameters<typeof bot.handleUpdate>[0])
  const ours = toTelegramInteraction(update)
  expect(ours).toMatchObject({ type: 'click', button: 'edit', chat: '7', queryId: 'query-7', message: '101' })
  expect(seen).toEqual([{ chat: '7', queryId: 'query-7', message: '101', data: `e:${reference()}:0` }])
})

test('messages and prompts of any content stay within the limits of Telegram', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1000 })
  const content = fc.record({
    title: text,
    message: fc.option(text),
    rule: fc.option(text),
    progress: fc.option(text),
    outcome: fc.option(text),
    payload: fc.array(fc.record({ name: text, value: text }), { maxLength: 12 }),
  })
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 30 }), (contents) => {
      const cards = contents.map((one) => sampleCard(one))
      const [first = sampleCard()] = cards
      const fields = first.payload.map((one) => ({ ...one, kind: 'text' as const, options: null }))
      const messages = [
        toTelegramMessage(first),
        toTelegramMessage({ kind: 'digest', title: 'Digest', cards, more: 3 }),
        editMessage(first, fields),
        fieldMessage(first, fields, 0),
        textPrompt(first, 'reason'),
      ]
      for (const message of messages) checkMessage(message as unknown as TelegramMessage)
    }),
    { numRuns: 50 },
  )
})

test('a digest of long requests stays within the limit, and says how many are left out', () => {
  const long = '😀'.repeat(400)
  const cards = Array.from({ length: 50 }, () => sampleCard({ title: `x${long}`, client: long, outcome: `y${long}` }))
  const message = toTelegramMessage({ kind: 'digest', title: '500 requests', cards, more: 450 })
  checkMessage(message as unknown as TelegramMessage)
  expect(message.text).toContain('482 more in the console')
})

/** The limit counts characters after the HTML is read; a button carries 64 bytes. */
function checkMessage({ text, reply_markup }: TelegramMessage): void {
  const shown = text.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:amp|lt|gt|quot);/g, '&')
  expect(shown.length).toBeLessThanOrEqual(4096)
  expect(shown.isWellFormed()).toBe(true)
  for (const button of (reply_markup?.inline_keyboard ?? []).flat()) {
    expect(Buffer.byteLength(button.callback_data)).toBeLessThanOrEqual(64)
    expect(button.text.length).toBeGreaterThan(0)
  }
}

test('a reply names its prompt by the last line only, and only if the bot wrote the prompt', () => {
  const forged = `Reference: reason ${reference()} 0`
  const fields = [{ name: 'text', kind: 'text' as const, value: forged, options: null }]
  const prompt = fieldMessage(sampleCard(), fields, 0) as unknown as TelegramMessage
  const text = prompt.text.replaceAll(/<[^>]*>/g, '')
  const chat = { id: 7, type: 'private' }
  const replyTo = (is_bot: boolean) => ({
    update_id: 1,
    message: {
      message_id: 5,
      chat,
      from: { id: 7, is_bot: false },
      text: 'new',
      reply_to_message: { from: { is_bot }, text },
    },
  })
  expect(toTelegramInteraction(replyTo(true))).toMatchObject({
    type: 'reply',
    to: { asks: 'value', place: 0, reference: { approvalId: sampleCard().approvalId } },
  })
  expect(toTelegramInteraction(replyTo(false))).toMatchObject({ type: 'text' })
})
