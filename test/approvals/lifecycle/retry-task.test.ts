import { expect, test } from 'vitest'
import { anyStore, sharedApp, testApp } from '../../app.ts'
import {
  cancelTask,
  DESK_WEDGES,
  expectRefusal,
  NO_RATE_LIMIT,
  readTask,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../../work/tasks/scripted-agent.ts'

anyStore((store) => {
  const shared = sharedApp({
    store,
    wedges: DESK_WEDGES,
    env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_MAX_CONCURRENT_TASKS: '1' },
  })
  const done = async (body: Record<string, unknown> = {}) => {
    const { id } = await shared().createTask({ input: [{ output: { a: 1 } }], ...body })
    await shared().finished(id)
    return id
  }

  test('a retry creates a new task with the same request and retry_of', async () => {
    const app = shared()
    const constraints = { max_runtime_s: 7, max_cost_usd: 0.5, approval_required: true }
    const tools = ['progress']
    const request = {
      input: [{ error: 'x' }],
      actor: { id: 1 },
      constraints,
      tools,
      output_schema: { type: 'object' },
    }
    const id = await done(request)
    const response = await app.call('POST', `/v1/tasks/${id}/retry`)
    expect(response).toMatchObject({ status: 201, body: { ...request, status: 'queued', retry_of: id, error: null } })
    expect(response.body.id).not.toBe(id)
    expect(response.headers.get('location')).toBe(`/v1/tasks/${response.body.id}`)
    await app.finished(response.body.id)
    expect((await readTask(app, id)).retry_of).toBeNull()
  })

  test('a retry of an unfinished task returns 409, of an unknown task 404', async () => {
    const app = shared()
    const id = await startScriptedTask(app)
    expectRefusal(await app.call('POST', `/v1/tasks/${id}/retry`), 409, /not finished/)
    await cancelTask(app, id)
    const again = await app.call('POST', `/v1/tasks/${id}/retry`)
    expect(again.status).toBe(201)
    await cancelTask(app, again.body.id)
    expectRefusal(await app.call('POST', '/v1/tasks/task_nobody/retry'), 404, 'no such task')
  })

  test('a retry counts against the rate limit', async () => {
    const app = await testApp({ store, wedges: DESK_WEDGES, env: { ...SCRIPTED_AGENT, SVC_TASK_RATE_PER_MIN: '2' } })
    const { id } = await app.createTask({ input: [{ output: { a: 1 } }] })
    await app.finished(id)
    const retried = [await app.call('POST', `/v1/tasks/${id}/retry`), await app.call('POST', `/v1/tasks/${id}/retry`)]
    expect(retried.map(({ status }) => status)).toEqual([201, 429])
  })
})
