import { expect, test } from 'vitest'
import { respondJson } from '../fake-upstream.ts'
import { openTableLock } from './table-lock.ts'
import {
  waitForEvent,
  createScriptedTask,
  type ScriptedDeployment,
  createScriptedDeployment,
} from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** The tests fill all places, so that one more task has to wait in the queue. */
const PLACES = { SVC_MAX_CONCURRENT_TASKS: '4' }
const INTERRUPTED = { reason: 'interrupted', message: expect.stringContaining('interrupted by a restart') }

/** A run whose call is out: the other side has it and does not answer. */
async function withEffectOut({ outside }: ScriptedDeployment, service: ServiceProcess): Promise<string> {
  const arrived = new Promise<void>((resolve) => {
    outside.respond = () => resolve()
  })
  const id = await createScriptedTask(service, [{ act: 'ping' }])
  await arrived
  outside.respond = (_seen, response) => respondJson(response, 200, { done: true })
  return id
}

async function waiting(service: ServiceProcess): Promise<{ id: string; approval: string }> {
  const id = await createScriptedTask(service, [{ act: 'send_note' }, { output: 'sent' }])
  return { id, approval: await waitForEvent(service, id, 'approval.requested') }
}

async function hanging(service: ServiceProcess): Promise<string> {
  const id = await createScriptedTask(service, [{ event: 'progress', data: { text: 'on' } }, 'hang'])
  await waitForEvent(service, id, 'progress')
  return id
}

test.each(attemptNumbers(1))(
  'kill -9 in every state of a task, on SQLite (%d): what ran is interrupted, what was queued runs, nothing leaves twice',
  async () => {
    const place = await createScriptedDeployment('sqlite', PLACES)
    const first = await place.open()
    const out = await withEffectOut(place, first)
    const asked = await waiting(first)
    const deciding = await waiting(first)
    const running = await Promise.all(Array.from({ length: 3 }, () => hanging(first)))
    const queued = await createScriptedTask(first, [{ output: 'later' }])
    // The decision is under way, answered or not, when the power goes out.
    const decided = first.call('POST', `/v1/approvals/${deciding.approval}/approve`, {}).catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
    await first.kill()
    const acknowledged = (await decided)?.status === 200
    const second = await place.start()
    const ended = await expectInvariants(second, await place.openRows(), {
      tasks: [out, asked.id, deciding.id, ...running, queued],
      decisions: acknowledged ? [[deciding.approval, 'approved']] : [[asked.approval, 'expired']],
      received: place.outside.received,
    })
    for (const id of [out, asked.id, ...running]) expect(ended.get(id)).toMatchObject({ error: INTERRUPTED })
    expect(ended.get(queued)).toMatchObject({ status: 'succeeded', output: 'later' })
    const { body } = await second.call('GET', `/v1/tasks/${out}/actions`)
    expect(body.data).toMatchObject([{ outcome: 'unknown' }])
  },
  FAULT_TIMEOUT_MS,
)

test(
  'kill -9 in the middle of every transaction of a run, on PostgreSQL: none is half done, and another replica ends the runs',
  async () => {
    const place = await createScriptedDeployment('postgres', { ...PLACES, SVC_DATA_DIR: 'first' })
    const first = await place.open()
    const out = await withEffectOut(place, first)
    const asked = await waiting(first)
    const [deciding, rejecting] = [await waiting(first), await waiting(first)]
    const running = await hanging(first)
    const { hold, halted, release } = await openTableLock(place.database ?? '')
    await hold('artifacts')
    const ending = await createScriptedTask(first, [{ output: 'last words' }])
    await halted(1)
    await hold('knowledge', 'access exclusive')
    const provisioning = await createScriptedTask(first, [{ output: 'never' }])
    await halted(2)
    const queued = await createScriptedTask(first, [{ output: 'later' }])
    const status = async (id: string) => (await first.call('GET', `/v1/tasks/${id}`)).body.status
    expect(await Promise.all([provisioning, queued, ending].map(status))).toEqual(['provisioning', 'queued', 'running'])
    // Where they ask for the head of the chain: what comes after it leaves in one message with the commit.
    await hold('audit_heads', 'exclusive')
    const refused = [
      first.call('POST', `/v1/approvals/${deciding.approval}/approve`, {}),
      first.call('POST', `/v1/approvals/${rejecting.approval}/reject`, {}),
      first.call('POST', `/v1/tasks/${running}/cancel`),
    ].map((answer) => answer.catch(() => 'gone'))
    await halted(5)
    await first.kill()
    expect(await Promise.all(refused)).toEqual(['gone', 'gone', 'gone'])
    await release()
    const second = await place.start({ SVC_DATA_DIR: 'second' })
    const interrupted = [out, asked.id, deciding.id, rejecting.id, running, provisioning]
    const ended = await expectInvariants(second, await place.openRows(), {
      tasks: [...interrupted, ending, queued],
      decisions: [asked, deciding, rejecting].map(({ approval }) => [approval, 'expired']),
      received: place.outside.received,
    })
    for (const id of interrupted) expect(ended.get(id)).toMatchObject({ status: 'failed', error: INTERRUPTED })
    // Its last words and their commit were one message that the server had: it does what it was told.
    expect(ended.get(ending)).toMatchObject({ status: 'succeeded', output: 'last words' })
    expect(ended.get(queued)).toMatchObject({ status: 'succeeded', output: 'later' })
    expect((await second.call('GET', `/v1/tasks/${out}/actions`)).body.data).toMatchObject([{ outcome: 'unknown' }])
    expect(place.outside.received).toHaveLength(1)
  },
  FAULT_TIMEOUT_MS,
)
