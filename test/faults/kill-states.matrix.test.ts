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
import { type ServiceProcess, SHORT_LEASE } from './service-process.ts'

/** The tests occupy all four run slots, so that one more task has to wait in the queue. */
const FOUR_SLOTS = { SVC_MAX_CONCURRENT_TASKS: '4' }
const INTERRUPTED = { reason: 'interrupted', message: expect.stringContaining('interrupted by a restart') }

/** Starts a run whose action has reached the upstream server, which does not respond. */
async function startUnansweredAction({ outside }: ScriptedDeployment, service: ServiceProcess): Promise<string> {
  const received = new Promise<void>((resolve) => {
    outside.respond = () => resolve()
  })
  const id = await createScriptedTask(service, [{ act: 'ping' }])
  await received
  outside.respond = (_request, response) => respondJson(response, 200, { done: true })
  return id
}

async function startWaiting(service: ServiceProcess): Promise<{ id: string; approval: string }> {
  const id = await createScriptedTask(service, [{ act: 'send_note' }, { output: 'sent' }])
  return { id, approval: await waitForEvent(service, id, 'approval.requested') }
}

async function startHanging(service: ServiceProcess): Promise<string> {
  const id = await createScriptedTask(service, [{ event: 'progress', data: { text: 'on' } }, 'hang'])
  await waitForEvent(service, id, 'progress')
  return id
}

test.each(attemptNumbers(1))(
  'kill -9 in every state of a task, on SQLite (%d): running tasks are interrupted, queued tasks run, no action is sent twice',
  async () => {
    const deployment = await createScriptedDeployment('sqlite', FOUR_SLOTS)
    const first = await deployment.open()
    const unanswered = await startUnansweredAction(deployment, first)
    const undecided = await startWaiting(first)
    const deciding = await startWaiting(first)
    const running = await Promise.all(Array.from({ length: 3 }, () => startHanging(first)))
    const queued = await createScriptedTask(first, [{ output: 'later' }])
    // The service is killed while it handles the decision, before or after it responds.
    const decided = first.call('POST', `/v1/approvals/${deciding.approval}/approve`, {}).catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
    await first.kill()
    const acknowledged = (await decided)?.status === 200
    const second = await deployment.start()
    const ended = await expectInvariants(second, await deployment.openRows(), {
      tasks: [unanswered, undecided.id, deciding.id, ...running, queued],
      decisions: acknowledged ? [[deciding.approval, 'approved']] : [[undecided.approval, 'expired']],
      received: deployment.outside.received,
    })
    for (const id of [unanswered, undecided.id, ...running]) expect(ended.get(id)).toMatchObject({ error: INTERRUPTED })
    expect(ended.get(queued)).toMatchObject({ status: 'succeeded', output: 'later' })
    const { body } = await second.call('GET', `/v1/tasks/${unanswered}/actions`)
    expect(body.data).toMatchObject([{ outcome: 'unknown' }])
  },
  FAULT_TIMEOUT_MS,
)

test(
  'kill -9 in the middle of every transaction of a run, on PostgreSQL: no transaction is half done, and another replica ends the runs',
  async () => {
    const env = { ...FOUR_SLOTS, ...SHORT_LEASE, SVC_DATA_DIR: 'first' }
    const deployment = await createScriptedDeployment('postgres', env)
    const first = await deployment.open()
    const unanswered = await startUnansweredAction(deployment, first)
    const undecided = await startWaiting(first)
    const [deciding, rejecting] = [await startWaiting(first), await startWaiting(first)]
    const running = await startHanging(first)
    const { hold, waitForBlocked, release } = await openTableLock(deployment.database ?? '')
    await hold('artifacts')
    const ending = await createScriptedTask(first, [{ output: 'last output' }])
    await waitForBlocked(1)
    await hold('knowledge', 'access exclusive')
    const provisioning = await createScriptedTask(first, [{ output: 'never' }])
    await waitForBlocked(2)
    const queued = await createScriptedTask(first, [{ output: 'later' }])
    const status = async (id: string) => (await first.call('GET', `/v1/tasks/${id}`)).body.status
    expect(await Promise.all([provisioning, queued, ending].map(status))).toEqual(['provisioning', 'queued', 'running'])
    // The lock stops the transactions at the audit head, because their later statements are sent together with the commit.
    await hold('audit_heads', 'exclusive')
    const unanswerable = [
      first.call('POST', `/v1/approvals/${deciding.approval}/approve`, {}),
      first.call('POST', `/v1/approvals/${rejecting.approval}/reject`, {}),
      first.call('POST', `/v1/tasks/${running}/cancel`),
    ].map((response) => response.catch(() => 'disconnected'))
    await waitForBlocked(5)
    await first.kill()
    expect(await Promise.all(unanswerable)).toEqual(['disconnected', 'disconnected', 'disconnected'])
    await release()
    const second = await deployment.start({ SVC_DATA_DIR: 'second' })
    const interrupted = [unanswered, undecided.id, deciding.id, rejecting.id, running, provisioning]
    const ended = await expectInvariants(second, await deployment.openRows(), {
      tasks: [...interrupted, ending, queued],
      decisions: [undecided, deciding, rejecting].map(({ approval }) => [approval, 'expired']),
      received: deployment.outside.received,
    })
    for (const id of interrupted) expect(ended.get(id)).toMatchObject({ status: 'failed', error: INTERRUPTED })
    // PostgreSQL had received the output and its commit in one message before the kill, and executes them.
    expect(ended.get(ending)).toMatchObject({ status: 'succeeded', output: 'last output' })
    expect(ended.get(queued)).toMatchObject({ status: 'succeeded', output: 'later' })
    expect((await second.call('GET', `/v1/tasks/${unanswered}/actions`)).body.data).toMatchObject([
      { outcome: 'unknown' },
    ])
    expect(deployment.outside.received).toHaveLength(1)
  },
  FAULT_TIMEOUT_MS,
)
