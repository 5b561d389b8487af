import { expect, test } from 'vitest'
import { SCRIPTED_AGENT } from '../work/tasks/scripted-agent.ts'
import { expectInvariants, expectCompleteLog } from './invariants.ts'
import { FAULT_TIMEOUT_MS, FAULT_ROUNDS } from './rounds.ts'
import { createDeployment, type ServiceProcess, SHORT_LEASE } from './service-process.ts'

const ECHO = { wedge: 'echo', task_type: 'say' }
const INTERRUPTED = { reason: 'interrupted', message: expect.stringContaining('interrupted by a restart') }

/** Creates tasks one after another until the service dies, and adds the ids of accepted tasks to `accepted`. */
async function createTasks(service: ServiceProcess, accepted: Set<string>): Promise<void> {
  for (;;) {
    const response = await service.call('POST', '/v1/tasks', { ...ECHO, input: accepted.size }).catch(() => null)
    if (!response) return
    if (response.status === 201) accepted.add(response.body.id)
  }
}

/** Kills the service at a random moment, after 5 to 45 more tasks were accepted. */
async function killUnderLoad(service: ServiceProcess, accepted: Set<string>): Promise<void> {
  const goal = accepted.size + 5 + Math.floor(Math.random() * 40)
  const loads = Promise.all(Array.from({ length: 6 }, () => createTasks(service, accepted)))
  while (accepted.size < goal) await new Promise(setImmediate)
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
  await service.kill()
  await loads
}

test(
  'kill -9 at any moment, on SQLite: every accepted task exists and ends, and every event log is complete',
  async () => {
    const deployment = await createDeployment('sqlite')
    const accepted = new Set<string>()
    for (let kills = 0; kills < 3 + FAULT_ROUNDS; kills++) await killUnderLoad(await deployment.start(), accepted)
    const ended = await expectInvariants(await deployment.start(), await deployment.openRows(), { tasks: accepted })
    for (const { status, error } of ended.values()) {
      if (status === 'failed') expect(error).toEqual(INTERRUPTED)
      else expect(status).toBe('succeeded')
    }
  },
  FAULT_TIMEOUT_MS,
)

test(
  'kill -9 of one of two replicas on PostgreSQL: its running tasks end as interrupted, all other tasks continue',
  async () => {
    const env = { ...SCRIPTED_AGENT, ...SHORT_LEASE, SVC_MAX_CONCURRENT_TASKS: '2' }
    const deployment = await createDeployment('postgres', { env })
    const first = await deployment.start({ SVC_DATA_DIR: 'first' })
    const second = await deployment.start({ SVC_DATA_DIR: 'second' })
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
      expect(await expectCompleteLog(second, id)).toMatchObject({ status: 'failed', error: INTERRUPTED })
    }
    for (const id of hanging.filter((one) => !ended.includes(one))) {
      expect((await second.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
      expect((await second.call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
    }
    const results = await expectInvariants(second, await deployment.openRows(), { tasks: [...hanging, ...queued] })
    for (const id of queued) expect(results.get(id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)
