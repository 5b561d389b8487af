import { expect, test } from 'vitest'
import { anyStore } from '../../../app.ts'
import {
  type Delivery,
  postmarkDelivery,
  resendDelivery,
  slackDelivery,
  smsDelivery,
  telegramDelivery,
} from './deliveries.ts'
import { type HookApp, openHookApp } from './hook-app.ts'

const DELIVERIES = [slackDelivery, telegramDelivery, smsDelivery, postmarkDelivery, resendDelivery].map(
  (delivery): [string, Delivery] => [delivery.adapter, delivery],
)

const openFor = (store: Parameters<typeof openHookApp>[0], { adapter, app }: Delivery) =>
  openHookApp(store, { adapter, ...app })

const messagesOf = async (app: HookApp): Promise<{ body: string; direction: string }[]> => {
  const threads = (await app.call('GET', '/v1/threads')).body.data
  expect(threads).toHaveLength(1)
  return (await app.call('GET', `/v1/threads/${threads[0].id}`)).body.messages
}

anyStore((store) => {
  test.each(DELIVERIES)(
    '%s: 50 deliveries of one message at once are one message and one task',
    async (_, delivery) => {
      const app = await openFor(store, delivery)
      const body = delivery.body(1, 'Hello')
      const headers = delivery.headers(app, body)
      const answers = await Promise.all(Array.from({ length: 50 }, () => app.deliver(body, headers)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
      expect((await messagesOf(app)).filter(({ direction }) => direction === 'inbound')).toHaveLength(1)
    },
  )

  test.each(DELIVERIES)(
    '%s: a call with a wrong signature is refused, and the channel says why',
    async (_, delivery) => {
      const app = await openFor(store, delivery)
      const body = delivery.body(1, 'Hello')
      expect((await app.deliver(body, delivery.headers(app, body, 'another secret'))).status).toBe(401)
      expect((await app.deliver(body, {})).status).toBe(401)
      expect((await app.call('GET', '/v1/threads')).body.data).toEqual([])
      const { last_error } = (await app.call('GET', `/v1/channels/${app.channel}`)).body
      expect(last_error).toMatch(/signature|five minutes|password/)
      expect((await app.deliver(body, delivery.headers(app, body))).status).toBe(200)
    },
  )

  test.each(DELIVERIES)('%s: messages that arrive out of order are all in the conversation', async (_, delivery) => {
    const app = await openFor(store, delivery)
    for (const n of [3, 1, 2, 3, 1]) {
      const body = delivery.body(n, `Message ${n}`)
      expect((await app.deliver(body, delivery.headers(app, body))).status).toBe(200)
    }
    const inbound = (await messagesOf(app)).filter(({ direction }) => direction === 'inbound')
    expect(inbound.map(({ body }) => body)).toEqual(['Message 3', 'Message 1', 'Message 2'])
  })

  test('slack: a call that is replayed after five minutes is refused', async () => {
    const app = await openFor(store, slackDelivery)
    const body = slackDelivery.body(1, 'Hello')
    const headers = slackDelivery.headers(app, body)
    await app.clock.advance(301_000)
    expect((await app.deliver(body, headers)).status).toBe(401)
  })

  test('slack: the check of the address is signed like every call', async () => {
    const app = await openFor(store, slackDelivery)
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' })
    expect((await app.deliver(body, {})).status).toBe(401)
    const answer = await app.deliver(body, slackDelivery.headers(app, body))
    expect(answer.body).toEqual({ challenge: 'abc' })
  })

  test('twilio: the answer is TwiML, and a signature for another address is refused', async () => {
    const app = await openFor(store, smsDelivery)
    const body = smsDelivery.body(1, 'Hello')
    const elsewhere = smsDelivery.headers({ ...app, path: '/v1/hooks/chan_other' }, body)
    expect((await app.deliver(body, elsewhere)).status).toBe(401)
    const answer = await app.deliver(body, smsDelivery.headers(app, body))
    expect(answer.headers.get('content-type')).toBe('text/xml')
    expect(answer.body).toContain('<Response></Response>')
  })
})
