import { expect, onTestFinished, test } from 'vitest'
import type { StreamedEvent } from '../http.ts'
import { createPostgres, killPostgres, removePostgres, startPostgres, stopPostgres } from '../postgres.ts'
import { expectCompleteLog } from './invariants.ts'
import { createProxiedDatabase } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeploymentFolder, removeDeploymentFolder, ServiceProcess } from './service-process.ts'

/** An agent that counts aloud to `to`, one number every `ms`, and then gives the last one as its output. */
const COUNTING = `node -e '
require("readline").createInterface({ input: process.stdin }).once("line", (line) => {
  const { to, ms } = JSON.parse(line).task.input
  let n = 0
  const timer = setInterval(() => {
    console.log(JSON.stringify({ event: "progress", data: { text: String(++n) } }))
    if (n < to) return
    console.log(JSON.stringify({ output: n }))
    clearInterval(timer)
  }, ms)
})'`

async function started(dir: string, env: Record<string, string>): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(dir, { SVC_AGENT_COMMAND: COUNTING, ...env })
  onTestFinished(() => service.kill())
  return service
}

function place(): string {
  const dir = createDeploymentFolder()
  onTestFinished(() => removeDeploymentFolder(dir))
  return dir
}

async function counting(service: ServiceProcess, to: number, ms = 100): Promise<string> {
  const { status, body } = await service.call('POST', '/v1/tasks', {
    wedge: 'echo',
    task_type: 'say',
    input: { to, ms },
  })
  expect(status).toBe(201)
  await service.events(body.id, ({ data }) => data.data.text === '3')
  return body.id
}

/** Everything that was counted is there once and in order, and the rest of the log is whole. */
async function expectCounted(service: ServiceProcess, id: string, to: number): Promise<void> {
  expect(await expectCompleteLog(service, id)).toMatchObject({ status: 'succeeded', output: to })
  expect(counted(await service.events(id))).toEqual(Array.from({ length: to }, (_, i) => String(i + 1)))
  expect((await service.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
}

const counted = (events: StreamedEvent[]) =>
  events.filter(({ event }) => event === 'progress').map(({ data }) => data.data.text)

/** A stream that is open. Wrapped, because a promise in a promise would be waited for. */
async function following(service: ServiceProcess, id: string): Promise<{ all: Promise<StreamedEvent[]> }> {
  return new Promise((resolve, reject) => {
    const all: Promise<StreamedEvent[]> = service.events(id, () => {
      resolve({ all })
      return false
    })
    all.catch(reject)
  })
}

async function health(service: ServiceProcess, wanted: number): Promise<unknown> {
  for (;;) {
    const { status, body } = await service.call('GET', '/health')
    if (status === wanted) return body
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function expectAway(service: ServiceProcess): Promise<void> {
  expect(await health(service, 503)).toEqual({ status: 'unavailable', error: expect.any(String) })
  const answer = await service.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' })
  expect(answer).toMatchObject({ status: 503, body: { error: 'the store cannot be reached right now: try again' } })
  expect(answer.headers.get('retry-after')).toBe('1')
}

test.each([
  ['stopped', stopPostgres],
  ['killed', killPostgres],
] as const)(
  'a database that is %s and starts again costs a running task nothing',
  async (_how, halt) => {
    const server = await createPostgres()
    onTestFinished(() => removePostgres(server))
    const service = await started(place(), { DATABASE_URL: server.url })
    const id = await counting(service, 40)
    const followed = await following(service, id)
    await halt(server)
    await expectAway(service)
    await startPostgres(server)
    await health(service, 200)
    // Who followed all the time saw the same log as who comes later.
    expect(counted(await followed.all)).toHaveLength(40)
    await expectCounted(service, id, 40)
  },
  FAULT_TIMEOUT_MS,
)

test.each(['cut', 'blackHole', 'halfOpen'] as const)(
  'a wire that meets %s and heals costs a running task nothing',
  async (fault) => {
    const { proxy } = await createProxiedDatabase()
    const service = await started(place(), { DATABASE_URL: proxy.url })
    const id = await counting(service, 60)
    proxy[fault]()
    if (fault !== 'halfOpen') await expectAway(service)
    proxy.heal()
    await health(service, 200)
    await expectCounted(service, id, 60)
  },
  FAULT_TIMEOUT_MS,
)

test.each(['before', 'after'] as const)(
  'a wire that is cut %s the commit, again and again, neither loses nor doubles an event or an end',
  async (moment) => {
    const { proxy } = await createProxiedDatabase()
    proxy.latencyMs = 2
    const service = await started(place(), { DATABASE_URL: proxy.url })
    const id = await counting(service, 40, 50)
    for (let n = 0; n < 5; n++) await proxy.cutAt('commit', moment, '"text":"')
    await proxy.cutAt('commit', moment, 'task.finished')
    await expectCounted(service, id, 40)
  },
  FAULT_TIMEOUT_MS,
)

test.each(['before', 'after'] as const)(
  'a wire that is cut %s the commit of a claim leaves no task behind',
  async (moment) => {
    const { proxy } = await createProxiedDatabase()
    const service = await started(place(), { DATABASE_URL: proxy.url })
    const happened = proxy.cutAt('commit', moment, 'skip locked')
    const id = await counting(service, 5, 20)
    await happened
    await expectCounted(service, id, 5)
  },
  FAULT_TIMEOUT_MS,
)

test(
  'a replica that cannot reach the database loses its runs when its lease is over; another ends them, once',
  async () => {
    const { proxy, database } = await createProxiedDatabase()
    const dir = place()
    const zombie = await started(dir, { DATABASE_URL: proxy.url, SVC_DATA_DIR: 'zombie' })
    const id = await counting(zombie, 1_000_000, 20)
    const other = await started(dir, { DATABASE_URL: database, SVC_DATA_DIR: 'other' })
    proxy.blackHole()
    const interrupted = { status: 'failed', error: { reason: 'interrupted' } }
    expect(await expectCompleteLog(other, id)).toMatchObject(interrupted)
    const { last_event_id } = (await other.call('GET', `/v1/tasks/${id}`)).body
    proxy.heal()
    await health(zombie, 200)
    const next = await counting(zombie, 5)
    await expectCounted(other, next, 5)
    expect((await other.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ ...interrupted, last_event_id })
  },
  FAULT_TIMEOUT_MS,
)

test(
  'the only replica ends its runs as interrupted when the database was away for longer than its lease',
  async () => {
    const { proxy } = await createProxiedDatabase()
    const service = await started(place(), { DATABASE_URL: proxy.url })
    const id = await counting(service, 1_000_000, 20)
    proxy.cut()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    proxy.heal()
    const task = await expectCompleteLog(service, id)
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
  },
  FAULT_TIMEOUT_MS,
)

test(
  'a service whose database is away still stops when it is told to',
  async () => {
    const { proxy } = await createProxiedDatabase()
    const service = await started(place(), { DATABASE_URL: proxy.url })
    await counting(service, 1_000_000, 20)
    proxy.cut()
    expect(await service.terminate()).toBe(0)
  },
  FAULT_TIMEOUT_MS,
)
