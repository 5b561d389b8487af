import { expect, test } from 'vitest'
import { SCRIPTED_AGENT } from '../tasks/scripted-agent.ts'
import { expectInvariants, expectCompleteLog } from './invariants.ts'
import { FAULT_TIMEOUT_MS, FAULT_ROUNDS } from './rounds.ts'
import { createDeployment, type ServiceProcess } from './service-process.ts'

const ECHO = { wedge: 'echo', task_type: 'say' }
const INTERRUPTED = { reason: 'interrupted', message: expect.stringContaining('interrupted by a restart') }

/** Creates tasks one after another until the service is gone; keeps the ids of those that it accepted. */
async function load(service: ServiceProcess, accepted: Set<string>): Promise<void> {
  for (;;) {
    const answer = await service.call('POST', '/v1/tasks', { ...ECHO, input: accepted.size }).catch(() => null)
    if (!answer) return
    if (answer.status === 201) accepted.add(answer.body.id)
  }
}

/** Kills at a moment that nobody chose: after so many creations were accepted, and a little more. */
async function killUnderLoad(service: ServiceProcess, accepted: Set<string>): Promise<void> {
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
    const place = await createDeployment('sqlite')
    const accepted = new Set<string>()
    for (let kills = 0; kills < 3 + FAULT_ROUNDS; kills++) await killUnderLoad(await place.start(), accepted)
    const ended = await expectInvariants(await place.start(), await place.openRows(), { tasks: accepted })
    for (const { status, error } of ended.values()) {
      if (status === 'failed') expect(error).toEqual(INTERRUPTED)
      else expect(status).toBe('succeeded')
    }
  },
  FAULT_TIMEOUT_MS,
)

test(
  'of two replicas on one PostgreSQL, one is killed: what it ran ends as interrupted, the rest goes on',
  async () => {
    const place = await createDeployment('postgres', { env: { ...SCRIPTED_AGENT, SVC_MAX_CONCURRENT_TASKS: '2' } })
    const first = await place.start({ SVC_DATA_DIR: 'first' })
    const second = await place.start({ SVC_DATA_DIR: 'second' })
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
    const truth = await expectInvariants(second, await place.openRows(), { tasks: [...hanging, ...queued] })
    for (const id of queued) expect(truth.get(id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)
