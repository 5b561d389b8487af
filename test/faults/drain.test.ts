import { expect, test } from 'vitest'
import { createDatabase, dropDatabase } from '../postgres.ts'
import type { StoreKind } from '../stores.ts'
import { SCRIPTED_AGENT } from '../work/tasks/scripted-agent.ts'
import { expectInvariants, expectCompleteLog } from './invariants.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeploymentFolder, createDeployment, removeDeploymentFolder, ServiceProcess } from './service-process.ts'
import { inMatrix, onlyInMatrix } from '../matrix.ts'

const ECHO = { wedge: 'echo', task_type: 'say' }

async function createTask(service: ServiceProcess, input: unknown): Promise<string> {
  const { status, body } = await service.call('POST', '/v1/tasks', { ...ECHO, input })
  expect(status).toBe(201)
  return body.id
}

async function waitUntilUnhealthy(service: ServiceProcess): Promise<unknown> {
  for (;;) {
    const { status, body } = await service.call('GET', '/health')
    if (status !== 200) return { status, body }
  }
}

const stores: StoreKind[] = ['sqlite', 'postgres']

test.concurrent.each(inMatrix(stores, ['sqlite']))(
  'SIGTERM on %s: no new task starts, streams end, running tasks are interrupted after 10 s, queued tasks run after the next start',
  async (store) => {
    const dir = createDeploymentFolder()
    const database = store === 'postgres' ? await createDatabase() : null
    const env = { ...SCRIPTED_AGENT, SVC_MAX_CONCURRENT_TASKS: '2', ...(database && { DATABASE_URL: database }) }
    const service = await ServiceProcess.start(dir, env)
    let next: ServiceProcess | null = null
    try {
      const hanging = await createTask(service, ['hang'])
      const another = await createTask(service, ['hang'])
      for (const id of [hanging, another]) await service.events(id, ({ event }) => event === 'task.created')
      const queued = await createTask(service, [{ output: 'later' }])
      const followed = service.events(hanging)
      const waiting = service.events(queued)
      const exitCode = service.terminate()
      expect(await waitUntilUnhealthy(service)).toEqual({
        status: 503,
        body: { status: 'unavailable', error: expect.any(String) },
      })
      // A run slot becomes free, but the service starts no new run.
      expect((await service.call('POST', `/v1/tasks/${another}/cancel`)).status).toBe(200)
      expect((await followed).at(-1)?.data.data).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
      expect(await waiting).toEqual([])
      expect(await exitCode).toBe(0)
      next = await ServiceProcess.start(dir, env)
      expect(await expectCompleteLog(next, hanging)).toMatchObject({
        status: 'failed',
        error: { reason: 'interrupted' },
      })
      expect(await expectCompleteLog(next, another)).toMatchObject({ status: 'cancelled' })
      expect(await expectCompleteLog(next, queued)).toMatchObject({ status: 'succeeded', output: 'later' })
    } finally {
      await service.kill()
      await next?.kill()
      removeDeploymentFolder(dir)
      if (database) await dropDatabase(database)
    }
  },
  FAULT_TIMEOUT_MS,
)

/** Creates tasks until the service accepts no more. */
async function createUntilRefused(service: ServiceProcess, accepted: Set<string>): Promise<void> {
  for (;;) {
    const response = await service.call('POST', '/v1/tasks', { ...ECHO, input: 'hello' }).catch(() => null)
    if (response?.status !== 201) return
    accepted.add(response.body.id)
  }
}

onlyInMatrix(() => {
  test.each(stores)(
    'SIGTERM under load on %s: every accepted task exists and ends, before the exit or after the next start',
    async (store) => {
      const deployment = await createDeployment(store)
      const service = await deployment.start()
      const accepted = new Set<string>()
      const loads = Promise.all(Array.from({ length: 30 }, () => createUntilRefused(service, accepted)))
      while (accepted.size < 60) await new Promise(setImmediate)
      expect(await service.terminate()).toBe(0)
      await loads
      const next = await deployment.start()
      for (const { status } of (
        await expectInvariants(next, await deployment.openRows(), { tasks: accepted })
      ).values()) {
        expect(status).toBe('succeeded')
      }
    },
    FAULT_TIMEOUT_MS,
  )
})

const SLOW_AGENT = `read -r brief
  echo '{"event":"progress","data":{"text":"working"}}'
  sleep 3
  echo '{"output":"done"}'`

onlyInMatrix(() => {
  test.each([
    ['sqlite', 'SIGTERM'],
    ['sqlite', 'SIGINT'],
    ['postgres', 'SIGTERM'],
  ] as const)(
    'on %s, %s to the whole process group: sandboxes keep running, so running tasks succeed before the exit',
    async (store, signal) => {
      const deployment = await createDeployment(store)
      const settings = { SVC_AGENT_COMMAND: SLOW_AGENT, SVC_SANDBOX: 'bwrap', SVC_POOL: '1' }
      // A process group of its own, as a terminal or a supervisor gives to the service.
      const service = await deployment.start(settings, ['setsid'])
      const running = await createTask(service, 'hello')
      await service.events(running, ({ event }) => event === 'progress')
      const followed = service.events(running)
      process.kill(-(service.child.pid ?? 0), signal)
      expect((await followed).at(-1)?.data.data).toMatchObject({ status: 'succeeded' })
      await service.exited
      expect(service.child.exitCode).toBe(0)
    },
    FAULT_TIMEOUT_MS,
  )
})
