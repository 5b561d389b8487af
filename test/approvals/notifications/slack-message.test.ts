import { WebClient } from '@slack/web-api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { approvalMail } from '../../../src/approvals/notifications/mail/approval-mail.ts'
import { type Card, toDigest } from '../../../src/approvals/notifications/card.ts'
import { NoticeRefused } from '../../../src/approvals/notifications/notifier.ts'
import {
  editForm,
  rejectForm,
  reviseForm,
  toSlackMessage,
} from '../../../src/approvals/notifications/slack/slack-card.ts'
import { slackNotifier } from '../../../src/approvals/notifications/slack/slack-notifier.ts'
import { toTelegramMessage } from '../../../src/approvals/notifications/telegram/telegram-card.ts'
import { CONNECTION_SECRET, sortedFields } from '../../customers/channels/adapters/adapter-fixtures.ts'
import { respondJson } from '../../fake-upstream.ts'
import { openBoltApp } from './chat-judges.ts'
import { openNotifierTest, sampleCard } from './notifier-fixtures.ts'

const SIGNING_SECRET = 'the-signing-secret'

const answer = { ok: true, channel: 'D1', ts: '1700000009.000900' }

test('a message and its rewrite are what the client of Slack sends', async () => {
  const { ctx, target, provider } = await openNotifierTest('slack', (_, response) => respondJson(response, 200, answer))
  const card = sampleCard({ title: 'Refund <b> & more' })
  const { externalId } = await slackNotifier.post(ctx, target('U1'), card)
  await slackNotifier.rewrite(ctx, target('U1'), externalId, { ...card, outcome: 'Approved by Ada' })
  await slackNotifier.rewrite(ctx, target('U1'), externalId, { ...card, progress: '1 of 2 approved: Ada & Bo' })
  const client = new WebClient(CONNECTION_SECRET, { slackApiUrl: `${provider.url}/`, retryConfig: { retries: 0 } })
  await client.apiCall('chat.postMessage', { channel: 'U1', ...toSlackMessage(card) })
  const rewritten = toSlackMessage({ ...card, outcome: 'Approved by Ada' })
  await client.apiCall('chat.update', { channel: 'D1', ts: '1700000009.000900', ...rewritten })
  const voted = toSlackMessage({ ...card, progress: '1 of 2 approved: Ada & Bo' })
  await client.apiCall('chat.update', { channel: 'D1', ts: '1700000009.000900', ...voted })
  const [posted, updated, counted, theirPost, theirUpdate, theirCount] = provider.received
  expect(posted?.url).toBe(theirPost?.url)
  expect(posted?.headers.authorization).toBe(theirPost?.headers.authorization)
  expect(sortedFields(posted?.body)).toEqual(sortedFields(theirPost?.body))
  expect(updated?.url).toBe(theirUpdate?.url)
  expect(sortedFields(updated?.body)).toEqual(sortedFields(theirUpdate?.body))
  expect(sortedFields(counted?.body)).toEqual(sortedFields(theirCount?.body))
  const [progress, actions] = voted.blocks.slice(-2)
  expect(JSON.stringify(progress)).toContain('1 of 2 approved: Ada & Bo')
  expect(actions?.type).toBe('actions')
})

test.each([true, false])('messages of every service say whether the sender is unverified: %s', (isUnverified) => {
  const card = sampleCard({ isUnverified })
  for (const notice of [card, toDigest([card], 1)])
    for (const message of [toSlackMessage(notice), toTelegramMessage(notice), approvalMail(notice)])
      expect(JSON.stringify(message).includes('Sender not verified')).toBe(isUnverified)
})

test.each([
  ['user_not_found', true],
  ['ratelimited', false],
])('a message that Slack answers with %s fails, and is final: %s', async (answered, isFinal) => {
  const { ctx, target } = await openNotifierTest('slack', (_, response) =>
    respondJson(response, 200, { ok: false, error: answered }),
  )
  const failure = await slackNotifier.post(ctx, target('U1'), sampleCard()).catch((thrown: Error) => thrown)
  expect(failure).toMatchObject({ message: `slack answered ${answered}` })
  expect(failure instanceof NoticeRefused).toBe(isFinal)
})

test('a click and a form are read as the library of Slack reads them, and answered in its words', async () => {
  const bolt = await openBoltApp(SIGNING_SECRET)
  const { ctx, call } = await openNotifierTest('slack')
  const card = sampleCard()
  const actions = toSlackMessage(card).blocks.at(-1)?.elements
  const button = Array.isArray(actions) ? actions[0] : null
  const user = { id: 'U1', username: 'ada', team_id: 'T1' }
  const common = { team: { id: 'T1' }, user, api_app_id: 'A1', token: 'old' }
  const click = { type: 'block_actions', ...common, actions: [button], response_url: 'https://hooks.slack.com/x' }
  const fields = [{ name: 'text', kind: 'text' as const, value: 'hello', options: null }]
  const state = { values: { 'field-0': { value: { type: 'plain_text_input', value: 'a & <b>' } } } }
  const submit = { type: 'view_submission', ...common, view: { ...editForm(card, fields), id: 'V1', state } }
  const answers: string[] = []
  for (const payload of [click, submit]) {
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    answers.push(await bolt.deliver(body))
    const activity = await slackNotifier.hook?.parse(ctx, call(body))
    for (const event of activity?.events ?? []) {
      expect(event).toMatchObject({ type: 'decide', address: 'U1', decision: 'approve' })
      await event.respond('refused', 'wrong').catch(() => {})
    }
    answers.push(JSON.stringify(activity?.response?.() ?? null))
  }
  expect(bolt.seen).toEqual([
    { user: 'U1', value: `${card.approvalId}:${card.payloadSha256.slice(0, 24)}` },
    { user: 'U1', value: `${card.approvalId}:${card.payloadSha256.slice(0, 24)}`, text: 'a & <b>' },
  ])
  expect(answers[2]).toBe(answers[3])
})

test('messages and forms of any content stay within the limits of Slack', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 4000 })
  const card = fc.record({
    title: text,
    message: fc.option(text),
    rule: fc.option(text),
    progress: fc.option(text),
    outcome: fc.option(text),
    payload: fc.array(fc.record({ name: text, value: text }), { maxLength: 12 }),
  })
  fc.assert(
    fc.property(fc.array(card, { minLength: 1, maxLength: 40 }), (contents) => {
      const cards = contents.map((content) => sampleCard(content as Partial<Card>))
      const [first = sampleCard()] = cards
      const messages = [toSlackMessage(first), toSlackMessage({ kind: 'digest', title: 'Digest', cards, more: 3 })]
      for (const { blocks } of messages) {
        expect(blocks.length).toBeLessThanOrEqual(50)
        for (const block of blocks) checkBlock(block)
      }
      const field = { name: first.title, kind: 'text' as const, value: first.title.slice(0, 3000), options: null }
      for (const form of [editForm(first, [field]), rejectForm(first), reviseForm(first)]) {
        expect(JSON.stringify(form?.private_metadata).length).toBeLessThan(3000)
        expect(form).toMatchObject({ title: { text: expect.stringMatching(/^.{1,24}$/) } })
      }
    }),
    { numRuns: 50 },
  )
})

/** The limits of Slack count characters of the text before it is escaped. */
function checkBlock(block: object): void {
  const { type, text, elements } = block as { type: string; text?: { text: string }; elements?: { text?: unknown }[] }
  const length = (shown: string) => shown.replaceAll(/&(?:amp|lt|gt);/g, '&').length
  if (type === 'header') expect(length(text?.text ?? '')).toBeLessThanOrEqual(150)
  if (type === 'context') expect(length((elements?.[0]?.text as string) ?? '')).toBeLessThanOrEqual(2000)
  if (type === 'actions') expect(elements?.length).toBeLessThanOrEqual(25)
}
