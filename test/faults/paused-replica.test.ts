import { expect, test } from 'vitest'
import { respondJson } from '../fake-upstream.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'

test(
  'a replica that is suspended for longer than its lease loses its runs, and writes nothing to them after it resumes',
  async () => {
    const deployment = await createScriptedDeployment('postgres', { SVC_MAX_CONCURRENT_TASKS: '4' })
    const first = await deployment.open({ SVC_DATA_DIR: 'first' })
    const { outside } = deployment
    const unanswered = new Promise<() => void>((resolve) => {
      outside.respond = (_request, response) => resolve(() => respondJson(response, 200, { done: true }))
    })
    const acting = await createScriptedTask(first, [{ act: 'ping' }, { output: 'sent' }])
    const respond = await unanswered
    outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    const waiting = await createScriptedTask(first, [{ act: 'send_note' }, { output: 'sent' }])
    const approval = await waitForEvent(first, waiting, 'approval.requested')
    const reporting = await createScriptedTask(first, [{ flood: 100_000 }, { output: 'said' }])
    await waitForEvent(first, reporting, 'progress')
    first.child.kill('SIGSTOP')
    const second = await deployment.start({ SVC_DATA_DIR: 'second' })
    const lost = [acting, waiting, reporting]
    for (const id of lost) await second.events(id)
    const before = await Promise.all(lost.map(async (id) => (await second.call('GET', `/v1/tasks/${id}`)).body))
    expect(before.map(({ error }) => error.reason)).toEqual(['interrupted', 'interrupted', 'interrupted'])
    first.child.kill('SIGCONT')
    // The upstream response and the decision arrive only now.
    respond()
    expect((await first.call('POST', `/v1/approvals/${approval}/approve`, {})).status).toBe(409)
    const later = await Promise.all(
      [first, second].map((replica) => createScriptedTask(replica, [{ act: 'ping' }, { output: 1 }])),
    )
    const ended = await expectInvariants(first, await deployment.openRows(), {
      tasks: [...lost, ...later],
      decisions: [[approval, 'expired']],
      received: outside.received,
    })
    expect(lost.map((id) => ended.get(id))).toEqual(before)
    for (const id of later) expect(ended.get(id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)
