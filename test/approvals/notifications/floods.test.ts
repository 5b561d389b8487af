import { expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../../src/approvals/notifications/settings.ts'
import { anyStore } from '../../app.ts'
import { respondJson } from '../../fake-upstream.ts'
import { ask, type ChatApp, type ChatMember } from './chat-app.ts'
import { linkSlackMember, openSlackApp, readSlackMessage, type SlackMessage } from './slack-app.ts'

const MINUTE_MS = 60_000

/** Messages to the member wait for some minutes, so that all of them are due at once. */
async function delayMessages(app: ChatApp, member: ChatMember): Promise<void> {
  const timeAt = (ms: number) => new Date(app.clock.now() + ms).toISOString().slice(11, 16)
  const quiet_hours = { from: timeAt(-MINUTE_MS), to: timeAt(5 * MINUTE_MS) }
  const settings = { ...DEFAULT_SETTINGS, quiet_hours, wake_for_high: false }
  const changed = await app.call('PUT', '/v1/me/notifications', { settings }, { key: member.session })
  expect(changed.status).toBe(200)
}

const sentTo = (app: ChatApp, method: string): SlackMessage[] =>
  app.provider.received.filter(({ url }) => url === `/${method}`).map(readSlackMessage)

const requestMessages = (app: ChatApp) => sentTo(app, 'chat.postMessage').filter(({ blocks }) => blocks.length > 0)

const readMessages = (app: ChatApp) => app.ctx.db.selectFrom('notification_messages').selectAll().execute()

/** Passes time until the condition holds. */
const passTime = (app: ChatApp, ms: number, holds: () => Promise<boolean> | boolean) =>
  expect.poll(async () => (await app.clock.advance(ms), await holds())).toBe(true)

anyStore((store) => {
  test('more than ten messages that are due at once are one message, which later shows every outcome', async () => {
    const app = await openSlackApp(store)
    const ada = await linkSlackMember(app, 'U1')
    await delayMessages(app, ada)
    const asked = []
    for (let n = 0; n < 11; n++) asked.push(await ask(app, 'archive', { n }))
    await expect.poll(async () => (await app.clock.advance(1_000), (await readMessages(app)).length)).toBe(11)
    expect(requestMessages(app)).toEqual([])
    await passTime(app, MINUTE_MS, () => requestMessages(app).length > 0)
    await passTime(app, 1_000, async () => (await readMessages(app)).every(({ state }) => state === 'sent'))
    expect(requestMessages(app).map(({ text }) => text)).toEqual(['11 requests need a decision'])
    const approve = ({ approval }: { approval: string }) =>
      app.call('POST', `/v1/approvals/${approval}/approve`, {}, { key: ada.session })
    for (const { status } of await Promise.all(asked.map(approve))) expect(status).toBe(200)
    await passTime(app, 1_000, async () => (await readMessages(app)).every(({ shown }) => shown === 'approved'))
    const blocks = JSON.stringify(sentTo(app, 'chat.update').at(-1)?.blocks)
    expect(blocks.split('Approved by u1@example.com')).toHaveLength(12)
  })

  test('a service that wants fewer calls gets the message later, however often it refuses it', async () => {
    const app = await openSlackApp(store)
    await linkSlackMember(app, 'U1')
    const { respond } = app.provider
    let refusals = 10
    app.provider.respond = (received, response) => {
      if (received.url !== '/chat.postMessage' || refusals-- <= 0) return respond(received, response)
      respondJson(response, 429, { ok: false, error: 'ratelimited' })
    }
    await ask(app, 'archive', { text: 'hello' })
    await passTime(app, 10_000, async () => (await readMessages(app))[0]?.state === 'sent')
    expect(requestMessages(app)).toHaveLength(11)
  })
})
