import { renameSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { StreamedEvent } from '../http.ts'
import { createPostgres, killPostgres, removePostgres, startPostgres, stopPostgres } from '../postgres.ts'
import { expectCompleteLog } from './invariants.ts'
import { createProxiedDatabase, TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import {
  createDeploymentFolder,
  PAST_LEASE_MS,
  removeDeploymentFolder,
  ServiceProcess,
  SHORT_LEASE,
} from './service-process.ts'
import { inMatrix, onlyInMatrix } from '../matrix.ts'

/** An agent that reports the numbers 1 to `to` as progress, one every `ms`, and returns the last one as its output. */
const COUNTING_AGENT = `node -e '
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

async function startCountingService(dir: string, env: Record<string, string>): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(dir, { SVC_AGENT_COMMAND: COUNTING_AGENT, ...env })
  onTestFinished(() => service.kill())
  return service
}

function temporaryFolder(): string {
  const dir = createDeploymentFolder()
  onTestFinished(() => removeDeploymentFolder(dir))
  return dir
}

async function startCounting(service: ServiceProcess, to: number, ms = 100): Promise<string> {
  const { status, body } = await service.call('POST', '/v1/tasks', {
    wedge: 'echo',
    task_type: 'say',
    input: { to, ms },
  })
  expect(status).toBe(201)
  await service.events(body.id, ({ data }) => data.data.text === '3')
  return body.id
}

/** Checks that every number was reported once and in order, and that the log is complete. */
async function expectCounted(service: ServiceProcess, id: string, to: number): Promise<void> {
  expect(await expectCompleteLog(service, id)).toMatchObject({ status: 'succeeded', output: to })
  expect(reportedNumbers(await service.events(id))).toEqual(Array.from({ length: to }, (_, i) => String(i + 1)))
  expect((await service.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
}

const reportedNumbers = (events: StreamedEvent[]) =>
  events.filter(({ event }) => event === 'progress').map(({ data }) => data.data.text)

/** Opens a stream. The promise of its events is wrapped in an object, because `await` would also wait for a returned promise. */
async function followEvents(service: ServiceProcess, id: string): Promise<{ all: Promise<StreamedEvent[]> }> {
  return new Promise((resolve, reject) => {
    const all: Promise<StreamedEvent[]> = service.events(id, () => {
      resolve({ all })
      return false
    })
    all.catch(reject)
  })
}

async function waitForHealth(service: ServiceProcess, expected: number): Promise<unknown> {
  for (;;) {
    const { status, body } = await service.call('GET', '/health')
    if (status === expected) return body
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const MOMENTS: readonly ('before' | 'after')[] = ['before', 'after']

async function expectUnavailable(service: ServiceProcess): Promise<void> {
  expect(await waitForHealth(service, 503)).toEqual({ status: 'unavailable', error: expect.any(String) })
  expect((await service.call('GET', '/readyz')).status).toBe(503)
  expect((await service.call('GET', '/livez')).status).toBe(200)
  const response = await service.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' })
  expect(response).toMatchObject({ status: 503, body: { error: 'the store cannot be reached right now: try again' } })
  expect(response.headers.get('retry-after')).toBe('1')
}

const STOPPED = ['stopped', stopPostgres] as const
const KILLED = ['killed', killPostgres] as const

test.each(inMatrix([STOPPED, KILLED], [KILLED]))(
  'PostgreSQL %s and restarted: a running task continues',
  async (_name, stopServer) => {
    const server = await createPostgres()
    onTestFinished(() => removePostgres(server))
    const service = await startCountingService(temporaryFolder(), { DATABASE_URL: server.url })
    const id = await startCounting(service, 40)
    const followed = await followEvents(service, id)
    await stopServer(server)
    await expectUnavailable(service)
    await startPostgres(server)
    await waitForHealth(service, 200)
    // A client that was connected during the outage gets the same log as a later client.
    expect(reportedNumbers(await followed.all)).toHaveLength(40)
    await expectCounted(service, id, 40)
  },
  FAULT_TIMEOUT_MS,
)

onlyInMatrix(() => {
  test(
    'PostgreSQL refuses connections because of its disk: requests get 503, and a running task continues afterwards',
    async () => {
      const server = await createPostgres()
      onTestFinished(() => removePostgres(server))
      const service = await startCountingService(temporaryFolder(), { DATABASE_URL: server.url })
      const id = await startCounting(service, 40)
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      // Every new connection reads this file first.
      const file = join(server.folder, 'data', 'global', 'pg_filenode.map')
      renameSync(file, `${file}.moved`)
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`)
      await client.end()
      await expectUnavailable(service)
      renameSync(`${file}.moved`, file)
      await waitForHealth(service, 200)
      await expectCounted(service, id, 40)
    },
    FAULT_TIMEOUT_MS,
  )

  test.each(['cut', 'blackHole', 'halfOpen'] as const)(
    'database connection fault %s: a running task continues after it',
    async (fault) => {
      const { proxy } = await createProxiedDatabase()
      const service = await startCountingService(temporaryFolder(), { DATABASE_URL: proxy.url })
      const id = await startCounting(service, 60)
      proxy[fault]()
      if (fault !== 'halfOpen') await expectUnavailable(service)
      proxy.heal()
      await waitForHealth(service, 200)
      await expectCounted(service, id, 60)
    },
    FAULT_TIMEOUT_MS,
  )
})

test.each(inMatrix(MOMENTS, ['after']))(
  'database connection repeatedly cut %s the commit: no event and no task end is lost or duplicated',
  async (moment) => {
    const { proxy } = await createProxiedDatabase()
    proxy.latencyMs = 2
    const service = await startCountingService(temporaryFolder(), { DATABASE_URL: proxy.url })
    const id = await startCounting(service, 40, 50)
    for (let n = 0; n < 5; n++) await proxy.cutAt('commit', moment, '"text":"')
    await proxy.cutAt('commit', moment, 'task.finished')
    await expectCounted(service, id, 40)
  },
  FAULT_TIMEOUT_MS,
)

test.each(inMatrix(MOMENTS, ['before']))(
  'database connection cut %s the commit of a claim: the claimed task still runs',
  async (moment) => {
    const { proxy } = await createProxiedDatabase()
    const service = await startCountingService(temporaryFolder(), { DATABASE_URL: proxy.url })
    const disconnected = proxy.cutAt('commit', moment, 'skip locked')
    const id = await startCounting(service, 5, 20)
    await disconnected
    await expectCounted(service, id, 5)
  },
  FAULT_TIMEOUT_MS,
)

onlyInMatrix(() => {
  test(
    'a replica without a database connection loses its runs when its lease expires, and another replica ends them once',
    async () => {
      const { proxy, database } = await createProxiedDatabase()
      const dir = temporaryFolder()
      const env = { ...SHORT_LEASE, DATABASE_URL: proxy.url, SVC_DATA_DIR: 'isolated' }
      const isolated = await startCountingService(dir, env)
      const id = await startCounting(isolated, 1_000_000, 20)
      const other = await startCountingService(dir, { ...env, DATABASE_URL: database, SVC_DATA_DIR: 'other' })
      proxy.blackHole()
      const interrupted = { status: 'failed', error: { reason: 'interrupted' } }
      expect(await expectCompleteLog(other, id)).toMatchObject(interrupted)
      const { last_event_id } = (await other.call('GET', `/v1/tasks/${id}`)).body
      proxy.heal()
      await waitForHealth(isolated, 200)
      const next = await startCounting(isolated, 5)
      await expectCounted(other, next, 5)
      expect((await other.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ ...interrupted, last_event_id })
    },
    FAULT_TIMEOUT_MS,
  )

  test(
    'database outage longer than the lease: the only replica ends its runs as interrupted',
    async () => {
      const { proxy } = await createProxiedDatabase()
      const service = await startCountingService(temporaryFolder(), { ...SHORT_LEASE, DATABASE_URL: proxy.url })
      const id = await startCounting(service, 1_000_000, 20)
      proxy.cut()
      await new Promise((resolve) => setTimeout(resolve, PAST_LEASE_MS))
      proxy.heal()
      const task = await expectCompleteLog(service, id)
      expect(task).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
    },
    FAULT_TIMEOUT_MS,
  )

  test(
    'database outage longer than the lease, within SVC_DATABASE_WAIT_S: the first replica that is back ends no run of the other',
    async () => {
      const { proxy, database } = await createProxiedDatabase()
      const otherProxy = await TcpProxy.openFor(database)
      onTestFinished(() => otherProxy.close())
      const dir = temporaryFolder()
      const env = { SVC_DATABASE_WAIT_S: '30' }
      const service = await startCountingService(dir, { ...env, DATABASE_URL: proxy.url, SVC_DATA_DIR: 'one' })
      const id = await startCounting(service, 150)
      const other = await startCountingService(dir, { ...env, DATABASE_URL: otherProxy.url, SVC_DATA_DIR: 'other' })
      proxy.cut()
      otherProxy.cut()
      await new Promise((resolve) => setTimeout(resolve, 12_000))
      otherProxy.heal()
      // This request waits, and the other replica is back when it is answered.
      expect((await other.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ status: 'running' })
      proxy.heal()
      await expectCounted(service, id, 150)
    },
    FAULT_TIMEOUT_MS,
  )

  test(
    'SIGTERM during a database outage: requests that wait for the database get 503',
    async () => {
      const { proxy } = await createProxiedDatabase()
      const env = { DATABASE_URL: proxy.url, SVC_DATABASE_WAIT_S: '600', SVC_DRAIN_DELAY_S: '1' }
      const service = await startCountingService(temporaryFolder(), env)
      await startCounting(service, 3)
      proxy.cut()
      const requests = Array.from({ length: 8 }, (_, n) =>
        n % 2 === 0
          ? service.call('GET', '/v1/tasks')
          : service.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say', input: { to: 3, ms: 10 } }),
      )
      const responses = Promise.all(requests)
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await service.terminate()).toBe(0)
      expect((await responses).map(({ status }) => status)).toEqual(requests.map(() => 503))
    },
    FAULT_TIMEOUT_MS,
  )

  test(
    'SIGTERM during a database outage stops the service',
    async () => {
      const { proxy } = await createProxiedDatabase()
      const service = await startCountingService(temporaryFolder(), { DATABASE_URL: proxy.url })
      await startCounting(service, 1_000_000, 20)
      proxy.cut()
      expect(await service.terminate()).toBe(0)
    },
    FAULT_TIMEOUT_MS,
  )
})
