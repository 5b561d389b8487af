import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CHANNEL_ADAPTERS } from '../../src/customers/channels/adapters/adapter-table.ts'
import { advanceUntilSettled } from '../approvals/decisions/gated-app.ts'
import { CHANNEL_SECRET } from '../customers/channels/adapters/adapter-fixtures.ts'
import { type HookApp, openHookApp } from '../customers/channels/adapters/hook-app.ts'
import { createAndGetId } from '../customers/channels/channel-app.ts'

// The ways in whose callers have no credential, or only a secret in their headers. The other routes are in
// `http/slow-requests.test.ts` and `http/request-validation.test.ts`, uploads in `files/routes.test.ts`.

const ORIGIN = 'https://shop.example'

/** The headers that a call needs so that its body is read. */
const HEADERS: Record<string, (app: HookApp) => Record<string, string>> = {
  mailgun: () => ({ 'content-type': 'application/x-www-form-urlencoded' }),
  postmark: () => ({ authorization: `Basic ${Buffer.from(`any:${CHANNEL_SECRET}`).toString('base64')}` }),
  resend: (app) => ({ 'svix-timestamp': nowOf(app) }),
  slack: (app) => ({ 'x-slack-request-timestamp': nowOf(app) }),
  telegram: () => ({ 'x-telegram-bot-api-secret-token': CHANNEL_SECRET }),
  twilio: () => ({ 'content-type': 'application/x-www-form-urlencoded' }),
  widget: () => ({ origin: ORIGIN }),
}

const nowOf = ({ clock }: HookApp) => String(Math.floor(clock.now() / 1000))

interface WayIn {
  name: string
  path: string
  headers: Record<string, string>
  maxBytes: number
}

async function addChannel(app: HookApp, adapter: string): Promise<string> {
  const isMail = CHANNEL_ADAPTERS[adapter]?.connection?.kind === 'email'
  const mail = { kind: 'email', config: { provider: adapter, from: 'desk@shop.example' } }
  const chat = { kind: 'custom', config: { base_url: app.provider.url } }
  const connection = { name: `provider of ${adapter}`, ...(isMail ? mail : chat) }
  const connection_id = await createAndGetId(app, '/v1/connections', connection)
  const config = adapter === 'widget' ? { origins: [ORIGIN] } : {}
  const binding = { connection_id, address: adapter, wedge: 'desk', task_type: 'triage', adapter, config }
  const id = await createAndGetId(app, '/v1/channels', binding)
  if (adapter !== 'widget') await app.call('POST', `/v1/channels/${id}/secret`, { value: CHANNEL_SECRET })
  return `/v1/hooks/${id}`
}

async function addNotifier(app: HookApp, kind: string): Promise<string> {
  const config = { base_url: app.provider.url }
  await createAndGetId(app, '/v1/connections', { kind: 'custom', name: `bot of ${kind}`, config })
  await app.call('PUT', `/v1/notifiers/${kind}`, { connection: `bot of ${kind}` })
  const { body } = await app.call('POST', `/v1/notifiers/${kind}/secret`, { value: CHANNEL_SECRET })
  return new URL(body.hook_url).pathname
}

async function openWaysIn(): Promise<{ app: HookApp; ways: WayIn[] }> {
  const app = await openHookApp('sqlite', { adapter: 'slack' })
  const ways: WayIn[] = []
  for (const [name, { hook }] of Object.entries(CHANNEL_ADAPTERS)) {
    if (!hook) continue
    const headers = HEADERS[name]?.(app) ?? expect.fail(`no headers for ${name}`)
    ways.push({ name, path: await addChannel(app, name), headers, maxBytes: hook.maxBytes })
  }
  for (const kind of ['slack', 'telegram']) {
    const headers = HEADERS[kind]?.(app) ?? {}
    ways.push({ name: `members in ${kind}`, path: await addNotifier(app, kind), headers, maxBytes: 1024 * 1024 })
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  ways.push({ name: 'tokens of apps', path: '/v1/mcp-oauth/token', headers: form, maxBytes: 16 * 1024 })
  return { app, ways }
}

/** Sends the head of a call, and the start of its body. */
function startCall(app: HookApp, { path, headers }: WayIn, length: string) {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write([`POST ${path} HTTP/1.1`, 'host: a', ...lines, length, '', ''].join('\r\n'))
  const status = once(socket.setEncoding('utf8'), 'data').then(([text]) => String(text).split(' ')[1])
  return { socket, status }
}

test('senders that never finish their calls are disconnected at every way in, also while they go on sending', async () => {
  const { app, ways } = await openWaysIn()
  const started = ways.map((way) => startCall(app, way, 'content-length: 10000'))
  await Promise.all(started.map(({ socket }) => once(socket, 'connect')))
  const sending = setInterval(() => {
    for (const { socket } of started) socket.write(' ')
  }, 5)
  onTestFinished(() => clearInterval(sending))
  const statuses = Promise.all(started.map(({ status }) => status))
  await advanceUntilSettled(app, statuses)
  const names = ways.map(({ name }) => name)
  expect((await statuses).map((status, n) => [names[n], status])).toEqual(names.map((name) => [name, '408']))
})

test('a body that is larger than the limit is refused at every way in, with and without its length', async () => {
  const { app, ways } = await openWaysIn()
  for (const way of ways) {
    expect([way.name, await startCall(app, way, `content-length: ${way.maxBytes + 1}`).status]).toEqual([
      way.name,
      '413',
    ])
    const { socket, status } = startCall(app, way, 'transfer-encoding: chunked')
    socket.on('error', () => {})
    const piece = ' '.repeat(1024 * 1024)
    for (let sent = 0; sent <= way.maxBytes; sent += piece.length) {
      if (!socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`))
        await Promise.race([once(socket, 'drain'), status])
    }
    expect([way.name, await status]).toEqual([way.name, '413'])
    socket.destroy()
  }
})
