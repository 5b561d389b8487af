import { expect, test } from 'vitest'
import { eachStore } from '../../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../../execution/runs/scripted-agent.ts'
import { requestedApprovalId, sharedGatedApp } from '../decisions/gated-app.ts'

const env = scriptedAgentFolder()

/** Requests 30 approvals at once and reports when ten are refused; when all others are decided, it requests one more. */
const SCRIPT = `
  const request = (n) => ask('POST', '/v1/internal/actions/n' + n, { connection: 'crm', payload: { n } })
  let refused = 0
  const requests = Array.from({ length: 30 }, (_, n) => request(n).then((response) => {
    if (response.status === 429 && ++refused === 10) say({ event: 'progress', data: { text: response.body.error } })
    return response
  }))
  const responses = [...await Promise.all(requests), await request(30)]
  say({ output: responses.map(({ status }) => status) })`

eachStore((store) => {
  const shared = sharedGatedApp(store, { env })

  test('a run has at most 20 pending approvals: the next request is 429, and one after the decisions is accepted', async () => {
    const app = shared()
    const id = await startScript(app, SCRIPT, { wedge: 'gate', task_type: 'act' })
    const refusal = await waitForEvent(app, id, 'progress')
    expect(refusal.data.data.text).toBe('the run already has 20 pending approvals: wait for a decision')
    await requestedApprovalId(app, id, 20)
    const pending = (await app.call('GET', `/v1/approvals?task_id=${id}&status=pending&limit=200`)).body.data
    expect(pending).toHaveLength(20)
    const approve = (approval: string) => app.call('POST', `/v1/approvals/${approval}/approve`, {})
    for (const { approval_id } of pending) expect((await approve(approval_id)).status).toBe(200)
    await approve(await requestedApprovalId(app, id, 21))
    const { output } = (await app.finished(id)) as { output: number[] }
    expect(output.filter((status) => status === 429)).toHaveLength(10)
    expect(output.filter((status) => status === 200)).toHaveLength(21)
  })
})
