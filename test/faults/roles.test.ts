import { expect, test } from 'vitest'
import { respondJson } from '../fake-upstream.ts'
import { expectCompleteLog } from './invariants.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createScriptedDeployment, createScriptedTask, waitForEvent } from './scripted-deployment.ts'
import { type ServiceProcess, SHORT_LEASE } from './service-process.ts'
import { onlyInMatrix } from '../matrix.ts'

/** Bubblewrap is required and cannot be found, so a replica that checked its sandbox would not start. */
const NO_BUBBLEWRAP = { SVC_SANDBOX: 'bwrap', PATH: '/nowhere' }
const API = { SVC_ROLE: 'api', SVC_DATA_DIR: 'api', ...NO_BUBBLEWRAP }
const runner = (name: string) => ({ SVC_ROLE: 'runner', SVC_DATA_DIR: name })
const INTERRUPTED = { status: 'failed', error: { reason: 'interrupted' } }
const DONE = { output: { ok: true } }

const startHanging = async (api: ServiceProcess): Promise<string> => {
  const id = await createScriptedTask(api, ['hang'])
  await waitForEvent(api, id, 'task.created')
  return id
}

test(
  'one API replica and two runners: streams, decisions and cancels reach the runs, and a killed runner loses none',
  async () => {
    const deployment = await createScriptedDeployment('postgres', SHORT_LEASE)
    deployment.outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    const api = await deployment.open(API)
    expect((await api.call('GET', '/v1/meta')).body).toMatchObject({ role: 'api', sandbox: { kind: 'none' } })

    const early = await createScriptedTask(api, [DONE])
    await expect
      .poll(async () => (await api.call('GET', `/v1/tasks/${early}`)).body)
      .toMatchObject({ status: 'queued', queue_reason: 'no replica that runs tasks is available' })

    const first = await deployment.start(runner('first'))
    for (const path of ['/health', '/livez', '/readyz']) expect((await first.call('GET', path)).status).toBe(200)
    for (const path of ['/', '/v1/meta', '/v1/tasks', '/portal', '/openapi.json', '/v1/internal/context'])
      expect((await first.call('GET', path)).status).toBe(404)
    expect(await expectCompleteLog(api, early)).toMatchObject({ status: 'succeeded', output: { ok: true } })

    const gated = await createScriptedTask(api, [{ act: 'send_note' }, DONE])
    const followed = api.events(gated)
    const approvalId = await waitForEvent(api, gated, 'approval.requested')
    expect((await api.call('POST', `/v1/approvals/${approvalId}/approve`)).status).toBe(200)
    expect((await followed).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['task.created', 'approval.requested', 'approval.resolved', 'task.finished']),
    )
    expect(await expectCompleteLog(api, gated)).toMatchObject({ status: 'succeeded' })
    expect(deployment.outside.received).toHaveLength(1)

    const cancelled = await startHanging(api)
    expect((await api.call('POST', `/v1/tasks/${cancelled}/cancel`)).status).toBe(200)
    expect(await expectCompleteLog(api, cancelled)).toMatchObject({ status: 'cancelled' })

    const lost = await startHanging(api)
    await deployment.start(runner('second'))
    const lostLog = api.events(lost)
    await first.kill()
    expect((await lostLog).at(-1)?.data.data).toMatchObject(INTERRUPTED)
    const next = await createScriptedTask(api, [DONE])
    expect(await expectCompleteLog(api, next)).toMatchObject({ status: 'succeeded' })
    expect((await api.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  },
  FAULT_TIMEOUT_MS,
)

onlyInMatrix(() => {
  test(
    'drain of an API replica: /readyz says 503, requests are still answered, and the runs of the runners go on',
    async () => {
      const deployment = await createScriptedDeployment('postgres')
      deployment.outside.respond = (_request, response) => respondJson(response, 200, { done: true })
      const api = await deployment.open({ ...API, SVC_DRAIN_DELAY_S: '2' })
      await deployment.start(runner('first'))
      await deployment.start(runner('second'))
      const other = await deployment.start({ ...API, SVC_DATA_DIR: 'other' })
      const ids: string[] = []
      for (let n = 0; n < 4; n++) ids.push(await createScriptedTask(api, [{ act: 'send_note' }, DONE]))
      for (const id of ids) await waitForEvent(api, id, 'approval.requested')

      const exitCode = api.terminate()
      await expect
        .poll(async () => api.call('GET', '/readyz'))
        .toMatchObject({ status: 503, body: { status: 'unavailable', error: 'the service is stopping' } })
      expect((await api.call('GET', '/livez')).status).toBe(200)
      const late = await createScriptedTask(api, [DONE])
      expect(await exitCode).toBe(0)

      for (const id of ids) {
        const { data } = (await other.call('GET', `/v1/approvals?status=pending&task_id=${id}`)).body
        expect((await other.call('POST', `/v1/approvals/${data[0].approval_id}/approve`)).status).toBe(200)
      }
      for (const id of [...ids, late]) expect(await expectCompleteLog(other, id)).toMatchObject({ status: 'succeeded' })
      expect(deployment.outside.received).toHaveLength(ids.length)
    },
    FAULT_TIMEOUT_MS,
  )
})
