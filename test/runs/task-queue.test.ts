import { expect, test } from 'vitest'
import { eachStore, testApp, type TestApp } from '../app.ts'
import { scriptedAgentFolder, eventually, startScript, waitForEvent } from './scripted-agent.ts'

const agents = scriptedAgentFolder()
const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000', ...agents }
const GATE = `const { body } = await ask('POST', '/v1/internal/gate', { tool: 'send' }, brief.service.gate_token); say({ output: body })`
const HOLD = `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`

async function statuses(app: TestApp): Promise<Record<string, number>> {
  const { body } = await app.call('GET', '/v1/tasks?limit=100')
  const counts: Record<string, number> = {}
  for (const { status } of body.data) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

eachStore((store) => {
  test('runs that wait for a person in sandboxes of their own leave their places only up to eight times as many', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1' } })
    for (let n = 0; n < 11; n++) await startScript(app, GATE)
    await eventually(async () => (await statuses(app)).awaiting_approval === 9)
    // However often the queue is looked at.
    await app.clock.advance(5_000)
    expect(await statuses(app)).toEqual({ awaiting_approval: 9, queued: 2 })

    const { body } = await app.call('GET', '/v1/approvals?status=pending')
    await app.call('POST', `/v1/approvals/${body.data[0].approval_id}/approve`)
    await eventually(async () => (await statuses(app)).queued === 1)
    await eventually(async () => (await statuses(app)).awaiting_approval === 9)
    expect(await statuses(app)).toEqual({ awaiting_approval: 9, queued: 1, succeeded: 1 })
  })

  test('so many tasks run at once, the rest waits; a run that waits for a person leaves its place', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '2' } })
    const held = [await startScript(app, HOLD), await startScript(app, HOLD)]
    for (const id of held) await waitForEvent(app, id, 'progress')
    const asking = await startScript(app, GATE)
    const last = await startScript(app, `say({ output: 'last' })`)
    expect(await statuses(app)).toEqual({ running: 2, queued: 2 })

    // A place is free: the one that asks takes it, and leaves it to the last while it waits.
    await app.call('POST', `/v1/tasks/${held[0]}/cancel`)
    const { data } = await waitForEvent(app, asking, 'approval.requested')
    expect(await app.finished(last)).toMatchObject({ status: 'succeeded', output: 'last' })
    await app.call('POST', `/v1/approvals/${data.data.approval_id}/approve`)
    expect(await app.finished(asking)).toMatchObject({ status: 'succeeded', output: { decision: 'approved' } })
  })

  test('a task that is cancelled in the queue never runs', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1' } })
    const held = await startScript(app, HOLD)
    await waitForEvent(app, held, 'progress')
    const queued = await startScript(
      app,
      `await ask('POST', '/v1/internal/records/ran/a', { value: 1 }); say({ output: 1 })`,
    )
    await app.call('POST', `/v1/tasks/${queued}/cancel`)
    await app.call('POST', `/v1/tasks/${held}/cancel`)
    const events = await app.events(queued)
    expect(events.map(({ event }) => event)).toEqual(['task.created', 'task.finished'])
    await app.finished(await startScript(app, `say({ output: 1 })`))
    expect((await app.call('GET', '/v1/records?wedge=echo&collection=ran')).body.data).toEqual([])
  })

  test('a project with a long queue does not keep another from its turn', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1', SVC_OPEN_SIGNUP: '1' } })
    const sign = (email: string) =>
      app.call('POST', '/v1/auth/signup', { email, password: 'correct horse battery' }, { key: null })
    await sign('first@example.com')
    const key = (await sign('second@example.com')).body.session_token
    const [project] = (await app.call('GET', '/v1/projects', undefined, { key })).body.data
    const held = await startScript(app, HOLD)
    await waitForEvent(app, held, 'progress')
    // Each of these would keep the only place for good.
    for (let i = 0; i < 3; i++) await startScript(app, HOLD)
    const task = { wedge: 'echo', task_type: 'say', input: { js: `say({ output: 'mine' })` } }
    const made = await app.call('POST', '/v1/tasks', task, { key, headers: { 'x-svc-project': project.id } })
    expect(made.status).toBe(201)
    await app.call('POST', `/v1/tasks/${held}/cancel`)
    const events = await app.events(made.body.id, { key })
    expect(events.at(-1)?.data.data.status).toBe('succeeded')
  })
})
