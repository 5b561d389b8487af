import { expect, test } from 'vitest'
import { respondJson } from '../fake-upstream.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'

test(
  'a replica that is halted for longer than its lease loses its runs, and writes nothing more when it goes on',
  async () => {
    const place = await createScriptedDeployment('postgres', { SVC_MAX_CONCURRENT_TASKS: '4' })
    const first = await place.open({ SVC_DATA_DIR: 'first' })
    const { outside } = place
    const answering = new Promise<() => void>((resolve) => {
      outside.respond = (_seen, response) => resolve(() => respondJson(response, 200, { done: true }))
    })
    const out = await createScriptedTask(first, [{ act: 'ping' }, { output: 'sent' }])
    const answer = await answering
    outside.respond = (_seen, response) => respondJson(response, 200, { done: true })
    const waiting = await createScriptedTask(first, [{ act: 'send_note' }, { output: 'sent' }])
    const approval = await waitForEvent(first, waiting, 'approval.requested')
    const talking = await createScriptedTask(first, [{ flood: 100_000 }, { output: 'said' }])
    await waitForEvent(first, talking, 'progress')
    first.child.kill('SIGSTOP')
    const second = await place.start({ SVC_DATA_DIR: 'second' })
    const lost = [out, waiting, talking]
    for (const id of lost) await second.events(id)
    const before = await Promise.all(lost.map(async (id) => (await second.call('GET', `/v1/tasks/${id}`)).body))
    expect(before.map(({ error }) => error.reason)).toEqual(['interrupted', 'interrupted', 'interrupted'])
    first.child.kill('SIGCONT')
    // What it waited for comes now: the answer to its call, and somebody who would decide.
    answer()
    expect((await first.call('POST', `/v1/approvals/${approval}/approve`, {})).status).toBe(409)
    const later = await Promise.all(
      [first, second].map((replica) => createScriptedTask(replica, [{ act: 'ping' }, { output: 1 }])),
    )
    const ended = await expectInvariants(first, await place.openRows(), {
      tasks: [...lost, ...later],
      decisions: [[approval, 'expired']],
      received: outside.received,
    })
    expect(lost.map((id) => ended.get(id))).toEqual(before)
    for (const id of later) expect(ended.get(id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)
