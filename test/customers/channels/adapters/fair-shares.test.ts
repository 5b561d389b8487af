import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAndGetId } from '../channel-app.ts'
import { CHANNEL_SECRET } from './adapter-fixtures.ts'
import { slackDelivery, telegramDelivery } from './deliveries.ts'
import { type HookApp, openHookApp } from './hook-app.ts'

/** Sends the headers of a call and one byte of its body. */
function startCall(
  app: HookApp,
  path: string,
  headers: string[],
  length: number,
): { socket: Socket; text: () => string } {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.write([`POST ${path} HTTP/1.1`, 'host: a', `content-length: ${length}`, ...headers, '', 'a'].join('\r\n'))
  return { socket, text: () => text }
}

let channels = 0

/** The hook of one more channel of the service. */
async function addChannel(app: HookApp, adapter: string, secret: string | null): Promise<string> {
  const name = `channel ${++channels}`
  const mail = { kind: 'email', name, config: { provider: 'postmark', from: 'desk@shop.example' } }
  const chat = { kind: 'custom', name, config: { base_url: app.provider.url } }
  const isMail = ['mailgun', 'postmark'].includes(adapter)
  const connection_id = await createAndGetId(app, '/v1/connections', isMail ? mail : chat)
  const config = adapter === 'widget' ? { origins: ['https://shop.example'] } : {}
  const binding = { connection_id, address: name, wedge: 'desk', task_type: 'triage', adapter, config }
  const id = await createAndGetId(app, '/v1/channels', binding)
  if (secret !== null) await app.call('POST', `/v1/channels/${id}/secret`, { value: secret })
  return `/v1/hooks/${id}`
}

const MIB = 1024 * 1024
const MAX_DECLARED = 40 * MIB
const basic = (password: string) => `authorization: Basic ${Buffer.from(`any:${password}`).toString('base64')}`

test('48 idle calls of one channel take no memory before they send their bodies', async () => {
  const app = await openHookApp('sqlite', { adapter: 'slack' })
  for (const [adapter, header] of [
    // The password is in the headers.
    ['postmark', basic('wrong')],
    ['postmark', basic(CHANNEL_SECRET)],
    // The signature is in the body.
    ['mailgun', 'content-type: application/x-www-form-urlencoded'],
  ] as const) {
    const path = await addChannel(app, adapter, CHANNEL_SECRET)
    const idle = Array.from({ length: 48 }, (_, n) =>
      startCall(app, path, [header], MAX_DECLARED / 2 ** Math.floor(n / 3)),
    )
    await Promise.all(idle.map(({ socket }) => once(socket, 'connect')))
    const statuses = []
    for (let n = 1; n <= 10; n++) {
      const body = slackDelivery.body(n, 'Hello'.repeat(1000))
      statuses.push((await app.deliver(body, slackDelivery.headers(app, body))).status)
    }
    expect([adapter, header, statuses]).toEqual([adapter, header, statuses.map(() => 200)])
    // What is not sent takes no memory, so that a third caller finds all that one may have.
    const third = app.ctx.hookBodies.open('third')
    expect(third.add(160 * MIB)).toBe(true)
    third.release()
    for (const { socket } of idle) socket.destroy()
  }
})

/** Takes all the memory for bodies that an owner gets, as large calls do that are being read or handled. */
function takeShare(app: HookApp, owner: string): void {
  const reserved = app.ctx.hookBodies.open(owner)
  onTestFinished(() => reserved.release())
  while (reserved.add(MIB / 16)) continue
}

test('a channel that uses its share of the memory leaves room for others, and gets 503 itself', async () => {
  const app = await openHookApp('sqlite', { adapter: 'slack' })
  const path = await addChannel(app, 'telegram', CHANNEL_SECRET)
  takeShare(app, app.channel)
  const body = slackDelivery.body(1, 'Hello'.repeat(20_000))
  const refused = await app.deliver(body, slackDelivery.headers(app, body))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  const raw = telegramDelivery.body(1, 'Hello'.repeat(20_000))
  const received = { key: null, headers: telegramDelivery.headers(app, raw), raw }
  expect((await app.call('POST', path, undefined, received)).status).toBe(200)
})

test('an address that uses its share gets 503, except for calls whose headers prove the provider', async () => {
  const app = await openHookApp('sqlite', { adapter: 'slack' })
  const path = await addChannel(app, 'telegram', CHANNEL_SECRET)
  takeShare(app, '127.0.0.1')
  const body = slackDelivery.body(1, 'Hello'.repeat(20_000))
  expect((await app.deliver(body, slackDelivery.headers(app, body))).status).toBe(503)
  const raw = telegramDelivery.body(1, 'Hello'.repeat(20_000))
  const received = { key: null, headers: telegramDelivery.headers(app, raw), raw }
  expect((await app.call('POST', path, undefined, received)).status).toBe(200)
})

test('a call that its headers show to be foreign is refused before its body arrives', async () => {
  const app = await openHookApp('sqlite', { adapter: 'slack' })
  const now = Math.floor(app.clock.now() / 1000)
  for (const [adapter, headers, status] of [
    ['postmark', [basic('wrong')], 401],
    ['postmark', [], 401],
    ['telegram', ['x-telegram-bot-api-secret-token: wrong'], 401],
    ['slack', [`x-slack-request-timestamp: ${now - 301}`, 'x-slack-signature: v0=0'], 401],
    ['widget', ['origin: https://other.example'], 403],
  ] as const) {
    const path = await addChannel(app, adapter, adapter === 'widget' ? null : CHANNEL_SECRET)
    const { socket, text } = startCall(app, path, [...headers], 1000)
    await once(socket, 'data')
    expect([adapter, text()]).toEqual([adapter, expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `))])
  }
  for (const adapter of ['mailgun', 'twilio']) {
    const { socket, text } = startCall(app, await addChannel(app, adapter, null), [], 1000)
    await once(socket, 'data')
    expect(text()).toContain('{"error":"the hook has no secret yet"}')
  }
})
