import { expect, test } from 'vitest'
import { startApp } from '../../src/server/app.ts'
import { testApp, type TestApp } from '../app.ts'
import { type ApiResponse, callApi } from '../http.ts'
import { advanceUntilSettled } from '../approvals/decisions/gated-app.ts'
import { openStream } from '../work/events/stream-reader.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../execution/runs/scripted-agent.ts'
import { onlyInMatrix } from '../matrix.ts'

const env = { SVC_SANDBOX: 'bwrap', ...scriptedAgentFolder() }
const GATE = `const { body } = await ask('POST', '/v1/internal/gate', { tool: 'send' }, brief.service.gate_token); say({ output: body })`
const HANG = `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`
const statusOf = async (app: TestApp, id: string) => (await app.call('GET', `/v1/tasks/${id}`)).body.status

/** Calls another replica that runs no tasks and stops without publishing a change hint. */
async function callWithoutHint(app: TestApp, path: string, body?: object, method = 'POST'): Promise<ApiResponse> {
  const config = { ...app.ctx.config, maxConcurrentTasks: 0, dataDir: `${app.ctx.config.dataDir}-other` }
  const other = await startApp(config, app.ctx.world)
  other.ctx.store.publish = () => {}
  try {
    return await callApi(other.url, app.key, method, path, body)
  } finally {
    await other.stop()
  }
}

test('lost change hint of a decision: the run continues after the next poll', async () => {
  const app = await testApp({ store: 'postgres', env })
  const id = await startScript(app, GATE)
  const { data } = await waitForEvent(app, id, 'approval.requested')
  const decided = await callWithoutHint(app, `/v1/approvals/${data.data.approval_id}/approve`)
  expect(decided).toMatchObject({ status: 200, body: { decision: 'approved' } })
  await app.clock.advance(700)
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { decision: 'approved' } })
})

onlyInMatrix(() => {
  test('lost change hint of a cancel: the run stops at the next heartbeat, and its run slot becomes free', async () => {
    const app = await testApp({ store: 'postgres', env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1' } })
    const id = await startScript(app, HANG)
    await waitForEvent(app, id, 'progress')
    const next = await startScript(app, `say({ output: 'next' })`)
    expect(await callWithoutHint(app, `/v1/tasks/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    })
    expect(await statusOf(app, next)).toBe('queued')
    await app.clock.advance(1_000)
    expect(await app.finished(next)).toMatchObject({ status: 'succeeded', output: 'next' })
    const events = await app.events(id)
    expect(events.map(({ event }) => event)).toEqual(['task.created', 'progress', 'task.finished'])
  })

  test('lost change hint of a new task: the next poll of the queue starts it', async () => {
    const app = await testApp({ store: 'postgres', env })
    const task = { wedge: 'echo', task_type: 'say', input: { js: `say({ output: 'found' })` } }
    const { body } = await callWithoutHint(app, '/v1/tasks', task)
    expect(await statusOf(app, body.id)).toBe('queued')
    await app.clock.advance(1_000)
    expect(await app.finished(body.id)).toMatchObject({ status: 'succeeded', output: 'found' })
  })

  test('lost change hint of a revoked key: its stream ends at the next credential check', async () => {
    const app = await testApp({ store: 'postgres', env })
    const { body } = await app.call('POST', '/v1/keys', { name: 'screen', role: 'viewer' })
    const stream = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${body.key}` })
    await stream.until(({ tail }) => tail.includes('ready'))
    expect((await callWithoutHint(app, `/v1/keys/${body.id}`, undefined, 'DELETE')).status).toBe(204)
    await advanceUntilSettled(app, stream.ended)
  })
})
