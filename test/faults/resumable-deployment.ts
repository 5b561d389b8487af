import { expect, onTestFinished } from 'vitest'
import { GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { type FakeUpstream, openFakeUpstream, respondJson } from '../fake-upstream.ts'
import type { StreamedEvent } from '../http.ts'
import type { StoreKind } from '../stores.ts'
import { createDeployment, type ServiceProcess, SHORT_LEASE } from './service-process.ts'

const PAYLOAD = { text: 'hello' }
const WEDGES = gatedWedgeFiles('gate', {
  policy: { auto_approve: [{ action: 'send_note' }] },
  task_types: { thrice: { harness: { resume: true } } },
})

/** A deployment whose runs make three auto-approved actions and continue after the death of their replica. */
export async function createResumableDeployment(store: StoreKind) {
  const outside = await openFakeUpstream()
  onTestFinished(() => outside.close())
  const deployment = await createDeployment(store, { wedges: WEDGES, env: { ...GATED_ENV, ...SHORT_LEASE } })
  outside.respond = (_request, response) => respondJson(response, 200, { number: outside.received.length })
  return { outside, deployment }
}

export const createResumableTask = async (service: ServiceProcess, payload = PAYLOAD): Promise<string> => {
  const input = { connection: 'crm', action: 'send_note', payload }
  return (await service.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'thrice', input })).body.id
}

const keysOf = ({ received }: FakeUpstream) => received.map(({ headers }) => headers['idempotency-key'])

/** Everything that an undisturbed run and a resumed one must have in common. */
const storyOf = (events: StreamedEvent[]) =>
  events
    .filter(({ data: { data } }) => data.state === undefined && data.action !== 'ask_person')
    .filter(({ event }) => event !== 'cost' && event !== 'progress')
    .map(({ event, data: { data } }) => [event, data.step ?? data.tool ?? data.action ?? data.status ?? null])

/** Answers whether unknown actions were done, as the outside server knows it, until the task has ended. */
async function answerQuestions(service: ServiceProcess, outside: FakeUpstream, taskId: string): Promise<void> {
  for (;;) {
    const { status } = (await service.call('GET', `/v1/tasks/${taskId}`)).body
    if (status !== 'running' && status !== 'awaiting_approval') return
    const { data } = (await service.call('GET', `/v1/approvals?status=pending&task_id=${taskId}`)).body
    for (const { approval_id, path, preview } of data) {
      expect(path).toBe('question')
      const asked = /approval (\S+)\)/.exec(preview.question)?.[1]
      const answer = keysOf(outside).includes(asked ?? '') ? 'done' : 'not_done'
      await service.call('POST', `/v1/approvals/${approval_id}/approve`, { edited: { answer } })
    }
  }
}

/** The run ended as the undisturbed one did, and each of its three actions was received once. */
export async function expectUndisturbed(
  service: ServiceProcess,
  outside: FakeUpstream,
  taskId: string,
  undisturbed: StreamedEvent[],
): Promise<void> {
  await answerQuestions(service, outside, taskId)
  const log = await service.events(taskId)
  expect(log.at(-1)?.data.data).toMatchObject({ status: 'succeeded' })
  expect(log.map(({ id }) => Number(id))).toEqual(log.map((_, index) => index + 1))
  expect(storyOf(log)).toEqual(storyOf(undisturbed))
  const { input, output } = (await service.call('GET', `/v1/tasks/${taskId}`)).body
  expect(output).toMatchObject({ ok: true, payload: input.payload })
  const actions: { approval_id: string }[] = (await service.call('GET', `/v1/tasks/${taskId}/actions`)).body.data
  const received = keysOf(outside)
  const calls = actions.map(({ approval_id }) => received.filter((key) => key === approval_id).length)
  expect(calls).toEqual([1, 1, 1])
}
