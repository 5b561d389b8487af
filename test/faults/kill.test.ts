import { expect, onTestFinished, test } from 'vitest'
import { createDatabase, dropDatabase } from '../postgres.ts'
import { SCRIPTED } from '../tasks/scripted.ts'
import { expectWholeLog } from './logs.ts'
import { makePlace, removePlace, Service } from './service.ts'

/** Whole processes are started and leases of 10 s run out by the real clock. */
const PATIENCE = 120_000
const ECHO = { wedge: 'echo', task_type: 'say' }
const INTERRUPTED = { reason: 'interrupted', message: expect.stringContaining('interrupted by a restart') }

function place(): string {
  const dir = makePlace()
  onTestFinished(() => removePlace(dir))
  return dir
}

async function started(dir: string, env?: Record<string, string>): Promise<Service> {
  const service = await Service.start(dir, env)
  onTestFinished(() => service.kill())
  return service
}

/** Creates tasks one after another until the service is gone; keeps the ids of those that it accepted. */
async function load(service: Service, accepted: Set<string>): Promise<void> {
  for (;;) {
    const answer = await service.call('POST', '/v1/tasks', { ...ECHO, input: accepted.size }).catch(() => null)
    if (!answer) return
    if (answer.status === 201) accepted.add(answer.body.id)
  }
}

/** Kills at a moment that nobody chose: after so many creations were accepted, and a little more. */
async function killUnderLoad(service: Service, accepted: Set<string>): Promise<void> {
  const goal = accepted.size + 5 + Math.floor(Math.random() * 40)
  const loads = Promise.all(Array.from({ length: 6 }, () => load(service, accepted)))
  while (accepted.size < goal) await new Promise(setImmediate)
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
  await service.kill()
  await loads
}

test(
  'kill -9 at any moment: every accepted task is there and ends, every log is whole, on SQLite',
  async () => {
    const dir = place()
    const accepted = new Set<string>()
    for (let round = 0; round < 4; round++) await killUnderLoad(await started(dir), accepted)
    const service = await started(dir)
    const tasks = await Promise.all([...accepted].map((id) => expectWholeLog(service, id)))
    for (const { status, error } of tasks) {
      if (status === 'failed') expect(error).toEqual(INTERRUPTED)
      else expect(status).toBe('succeeded')
    }
    expect((await service.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    const { body } = await service.call('GET', '/v1/tasks?status=queued')
    expect(body.data).toEqual([])
  },
  PATIENCE,
)

test(
  'of two replicas on one PostgreSQL, one is killed: what it ran ends as interrupted, the rest goes on',
  async () => {
    const dir = place()
    const database = await createDatabase()
    onTestFinished(() => dropDatabase(database))
    const env = { ...SCRIPTED, DATABASE_URL: database, SVC_MAX_CONCURRENT_TASKS: '2' }
    const first = await started(dir, { ...env, SVC_DATA_DIR: 'first' })
    const second = await started(dir, { ...env, SVC_DATA_DIR: 'second' })
    const create = async (input: unknown) =>
      (await first.call('POST', '/v1/tasks', { ...ECHO, input })).body.id as string
    const hanging = await Promise.all([1, 2, 3, 4].map(() => create(['hang'])))
    for (const id of hanging) await second.events(id, ({ event }) => event === 'task.created')
    const queued = await Promise.all([1, 2, 3].map((n) => create([{ output: n }])))
    const ended: string[] = []
    const endings = hanging.map((id) => second.events(id).then(() => ended.push(id)))
    await first.kill()
    await Promise.race(endings)
    await Promise.race(endings.filter((_, i) => !ended.includes(hanging[i] as string)))
    expect(ended).toHaveLength(2)
    for (const id of ended) {
      expect(await expectWholeLog(second, id)).toMatchObject({ status: 'failed', error: INTERRUPTED })
    }
    for (const id of hanging.filter((one) => !ended.includes(one))) {
      expect((await second.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
      expect((await second.call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
      await expectWholeLog(second, id)
    }
    for (const id of queued) expect(await expectWholeLog(second, id)).toMatchObject({ status: 'succeeded' })
    expect((await second.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
  },
  PATIENCE,
)
