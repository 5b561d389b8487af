import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import { median, percentile } from '../load/statistics.ts'
import { goalRow, plainRow, type ResultRow } from '../results.ts'
import type { Rig, Server } from '../rig.ts'

const REQUESTS = 60
const WARM_UP = 10
const SIGNING_SECRET = 'the-signing-secret-of-the-app'
const USER = 'U1'

/** The time from asking for an approval to the message at Slack, for which a local recorder stands. */
export async function measureNotices(rig: Rig): Promise<ResultRow[]> {
  const env = { SVC_EGRESS_ALLOW: '127.0.0.1', SVC_SECRET_KEY: randomBytes(32).toString('base64') }
  const service = await rig.service(env)
  const recorder = await openRecorder()
  try {
    await linkMember(service, recorder.url)
    const times: number[] = []
    for (let n = 0; n < WARM_UP + REQUESTS; n++) times.push(await timeNotice(service, recorder))
    const measured = times.slice(WARM_UP)
    const p99 = { service: [percentile(measured, 0.99)], bare: [] }
    return [
      plainRow('asked to message at Slack p50', 'ms', median(measured)),
      goalRow('asked to message at Slack p99', 'ms', p99, { max: 300 }, `${REQUESTS} requests one after another`),
    ]
  } finally {
    recorder.server.close()
  }
}

interface Recorder {
  server: HttpServer
  url: string
  /** When each approval was in a message first, by its id. */
  arrivals: Map<string, number>
  /** Resolves with the next message. */
  next: () => Promise<unknown>
}

async function openRecorder(): Promise<Recorder> {
  const arrivals = new Map<string, number>()
  const server = createServer((request, response) => {
    const arrivedAt = Date.now()
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const id = /apr_[0-9a-z]{26}/.exec(body)?.[0]
      if (id && !arrivals.has(id)) arrivals.set(id, arrivedAt)
      response.setHeader('content-type', 'application/json').end('{"ok":true,"channel":"D1","ts":"1.1"}')
      server.emit('message')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { server, url: `http://127.0.0.1:${port}`, arrivals, next: () => once(server, 'message') }
}

/** Sets up Slack and links the account of the owner to it. */
async function linkMember(service: Server, base_url: string): Promise<void> {
  const account = { email: 'owner@example.com', password: 'correct horse battery' }
  const { session_token } = await call(service, 'POST', '/v1/auth/signup', account)
  const connection = await call(service, 'POST', '/v1/connections', {
    kind: 'custom',
    name: 'slack',
    config: { base_url },
  })
  await call(service, 'POST', `/v1/connections/${connection.id}/secret`, { value: 'xoxb-token' })
  await call(service, 'PUT', '/v1/notifiers/slack', { connection: 'slack' })
  const { hook_url } = await call(service, 'POST', '/v1/notifiers/slack/secret', { value: SIGNING_SECRET })
  const { code } = await call(service, 'POST', '/v1/me/notifications/links', { kind: 'slack' }, session_token)
  await sendDirectMessage(service, new URL(hook_url ?? '').pathname, code ?? '')
}

async function sendDirectMessage({ port }: Server, path: string, text: string): Promise<void> {
  const event = { type: 'message', channel_type: 'im', channel: 'D1', user: USER, text, ts: '1.1' }
  const body = JSON.stringify({ type: 'event_callback', event })
  const time = Math.floor(Date.now() / 1000)
  const mac = createHmac('sha256', SIGNING_SECRET).update(`v0:${time}:${body}`).digest('hex')
  const headers = { 'x-slack-request-timestamp': String(time), 'x-slack-signature': `v0=${mac}` }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`the hook returned status ${response.status}: ${await response.text()}`)
}

/** Starts a run that asks, waits for the message, and rejects the request so that no run stays. */
async function timeNotice(service: Server, { arrivals, next }: Recorder): Promise<number> {
  const input = { text: 'hello' }
  const { id } = await call(service, 'POST', '/v1/tasks', { wedge: 'bench', task_type: 'ask', input })
  const known = new Set(arrivals.keys())
  let found: string | undefined
  while (found === undefined) {
    const message = next()
    found = [...arrivals.keys()].find((approval) => !known.has(approval))
    if (found === undefined) await message
  }
  const { created_at } = await call(service, 'GET', `/v1/approvals/${found}`)
  await call(service, 'POST', `/v1/tasks/${id}/cancel`)
  return (arrivals.get(found) ?? Number.NaN) - Date.parse(created_at ?? '')
}

async function call(
  { port, key }: Server,
  method: string,
  path: string,
  body: unknown = {},
  bearer = key,
): Promise<Record<string, string | undefined>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} returned status ${response.status}: ${await response.text()}`)
  return (await response.json()) as Record<string, string | undefined>
}
