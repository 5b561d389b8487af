import { expect, test } from 'vitest'
import { eachStore, testApp, type TestApp } from '../../../app.ts'
import { scriptedAgentFolder, eventually, startScript, waitForEvent } from '../scripted-agent.ts'

const agents = scriptedAgentFolder()
const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000', ...agents }
const GATE = `const { body } = await ask('POST', '/v1/internal/gate', { tool: 'send' }, brief.service.gate_token); say({ output: body })`
const HANG = `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`

async function countByStatus(app: TestApp): Promise<Record<string, number>> {
  const { body } = await app.call('GET', '/v1/tasks?limit=100')
  const counts: Record<string, number> = {}
  for (const { status } of body.data) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const SAY = { wedge: 'echo', task_type: 'say', input: { js: `say({ output: 'mine' })` } }

/** The options of a call by the owner of another organisation, for its project. */
async function signUpToSecondProject(app: TestApp) {
  const signUp = (email: string) =>
    app.call('POST', '/v1/auth/signup', { email, password: 'correct horse battery' }, { key: null })
  await signUp('first@example.com')
  const key: string = (await signUp('second@example.com')).body.session_token
  const [project] = (await app.call('GET', '/v1/projects', undefined, { key })).body.data
  return { key, headers: { 'x-svc-project': project.id } }
}

eachStore((store) => {
  test('too many runs of a project that wait in their own sandboxes hold back that project only', async () => {
    const limits = { SVC_MAX_CONCURRENT_TASKS: '1', SVC_MAX_WAITING_RUNS: '3', SVC_OPEN_SIGNUP: '1' }
    const app = await testApp({ store, env: { ...env, ...limits } })
    for (let n = 0; n < 5; n++) await startScript(app, GATE)
    await eventually(async () => (await countByStatus(app)).awaiting_approval === 3)
    // The limit also holds after several polls of the queue.
    await app.clock.advance(5_000)
    expect(await countByStatus(app)).toEqual({ awaiting_approval: 3, queued: 2 })
    const queue_reason = expect.stringMatching(/^3 runs of this project wait for approvals in their own sandboxes/)
    const [held] = (await app.call('GET', '/v1/tasks?status=queued')).body.data
    expect(held).toMatchObject({ queue_reason, waiting_for: { kind: 'capacity' } })
    expect((await app.call('GET', `/v1/tasks/${held.id}`)).body).toMatchObject({ status: 'queued', queue_reason })

    const other = await signUpToSecondProject(app)
    const task = await app.call('POST', '/v1/tasks', SAY, other)
    await eventually(async () => {
      const { body } = await app.call('GET', `/v1/tasks/${task.body.id}`, undefined, other)
      return body.status === 'succeeded' && body.queue_reason === null && body.waiting_for === null
    })

    const { body } = await app.call('GET', '/v1/approvals?status=pending')
    await app.call('POST', `/v1/approvals/${body.data[0].approval_id}/approve`)
    await eventually(async () => {
      await app.clock.advance(1_000)
      return (await countByStatus(app)).queued === 1
    })
    await eventually(async () => (await countByStatus(app)).awaiting_approval === 3)
    expect(await countByStatus(app)).toEqual({ awaiting_approval: 3, queued: 1, succeeded: 1 })
  })

  test('tasks over the concurrency limit wait in the queue, and a run that waits for an approval frees its slot', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '2' } })
    const hanging = [await startScript(app, HANG), await startScript(app, HANG)]
    for (const id of hanging) await waitForEvent(app, id, 'progress')
    const gated = await startScript(app, GATE)
    const last = await startScript(app, `say({ output: 'last' })`)
    expect(await countByStatus(app)).toEqual({ running: 2, queued: 2 })

    // The gated task takes the free slot, and frees it for the last task while it waits for the approval.
    await app.call('POST', `/v1/tasks/${hanging[0]}/cancel`)
    const { data } = await waitForEvent(app, gated, 'approval.requested')
    expect(await app.finished(last)).toMatchObject({ status: 'succeeded', output: 'last' })
    await app.call('POST', `/v1/approvals/${data.data.approval_id}/approve`)
    expect(await app.finished(gated)).toMatchObject({ status: 'succeeded', output: { decision: 'approved' } })
  })

  test('a task that is cancelled while queued never runs', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1' } })
    const hanging = await startScript(app, HANG)
    await waitForEvent(app, hanging, 'progress')
    const queued = await startScript(
      app,
      `await ask('POST', '/v1/internal/records/ran/a', { value: 1 }); say({ output: 1 })`,
    )
    await app.call('POST', `/v1/tasks/${queued}/cancel`)
    await app.call('POST', `/v1/tasks/${hanging}/cancel`)
    const events = await app.events(queued)
    expect(events.map(({ event }) => event)).toEqual(['task.created', 'task.finished'])
    await app.finished(await startScript(app, `say({ output: 1 })`))
    expect((await app.call('GET', '/v1/records?wedge=echo&collection=ran')).body.data).toEqual([])
  })

  test('a project with a long queue does not block the task of another project', async () => {
    const app = await testApp({ store, env: { ...env, SVC_MAX_CONCURRENT_TASKS: '1', SVC_OPEN_SIGNUP: '1' } })
    const other = await signUpToSecondProject(app)
    const hanging = await startScript(app, HANG)
    await waitForEvent(app, hanging, 'progress')
    // Each of these tasks would occupy the only slot forever.
    for (let i = 0; i < 3; i++) await startScript(app, HANG)
    const created = await app.call('POST', '/v1/tasks', SAY, other)
    expect(created.status).toBe(201)
    await app.call('POST', `/v1/tasks/${hanging}/cancel`)
    const events = await app.events(created.body.id, { key: other.key })
    expect(events.at(-1)?.data.data.status).toBe('succeeded')
  })
})
