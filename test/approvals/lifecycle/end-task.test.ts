import { describe, expect, test } from 'vitest'
import { anyStore, eachStore, sharedApp, type TestApp, testApp } from '../../app.ts'
import {
  cancelTask,
  DESK_WEDGES,
  expectRefusal,
  NO_RATE_LIMIT,
  readTask,
  SCRIPTED_AGENT,
  startScriptedTask,
} from '../../work/tasks/scripted-agent.ts'

const GATED = { wedge: 'desk', task_type: 'gated' }
const types = async (app: TestApp, id: string) => (await app.events(id)).map(({ event }) => event)

async function waitingTask(app: TestApp): Promise<{ id: string; approval: string }> {
  const { id } = await app.createTask(GATED)
  const events = await app.events(id, { until: ({ event }) => event === 'approval.requested' })
  return { id, approval: events.at(-1)?.data.data.approval_id }
}

anyStore((store) => {
  describe('a task that waits for an approval', () => {
    const shared = sharedApp({ store, wedges: DESK_WEDGES, env: NO_RATE_LIMIT })

    test('a cancel ends a waiting task as rejected', async () => {
      const app = shared()
      const { id, approval } = await waitingTask(app)
      expect((await readTask(app, id)).status).toBe('awaiting_approval')
      const response = await cancelTask(app, id)
      expect(response).toMatchObject({ status: 200, body: { status: 'rejected', error: { reason: 'rejected' } } })
      expect((await types(app, id)).slice(-2)).toEqual(['approval.resolved', 'task.finished'])
      expect((await app.call('GET', `/v1/approvals/${approval}`)).body.status).toBe('rejected')
      expectRefusal(await cancelTask(app, id), 409, 'task already finished')
    })

    test('a rejection ends the task, and an approval lets it run to success', async () => {
      const app = shared()
      const first = await waitingTask(app)
      await app.call('POST', `/v1/approvals/${first.approval}/reject`)
      expect(await app.finished(first.id)).toMatchObject({ status: 'rejected', error: { reason: 'rejected' } })
      const second = await waitingTask(app)
      await app.call('POST', `/v1/approvals/${second.approval}/approve`)
      expect(await app.finished(second.id)).toMatchObject({ status: 'succeeded', error: null, output: { sent: true } })
    })

    test('a task without a decision expires after five minutes', async () => {
      const app = await testApp({ store, wedges: DESK_WEDGES })
      const { id } = await waitingTask(app)
      await app.clock.advance(299_000)
      expect((await readTask(app, id)).status).toBe('awaiting_approval')
      await app.clock.advance(2_000)
      // A sweep that started before the clock moved may miss the approval; the next sweep expires it.
      for (let round = 0; round < 10 && (await readTask(app, id)).status === 'awaiting_approval'; round++) {
        await app.clock.advance(1_000)
      }
      expect(await app.finished(id)).toMatchObject({ status: 'expired', error: { reason: 'expired' } })
    })
  })

  describe('the end of a run', () => {
    const shared = sharedApp({ store, wedges: DESK_WEDGES, env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT } })
    const ended = async (body: Record<string, unknown>) => {
      const { id } = await shared().createTask(body)
      return shared().finished(id)
    }

    test('valid output ends the task as succeeded: output.validated, artifact.created, task.finished', async () => {
      const app = shared()
      const { id } = await app.createTask({ task_type: 'checked', input: [{ output: { said: 'x' } }] })
      expect(await types(app, id)).toEqual(['task.created', 'output.validated', 'artifact.created', 'task.finished'])
      expect(await readTask(app, id)).toMatchObject({ status: 'succeeded', output: { said: 'x' }, last_event_id: 4 })
    })

    test('output that does not match its schema fails the task, and the log has the errors', async () => {
      const app = shared()
      const { id } = await app.createTask({ task_type: 'checked', input: [{ output: { said: 1 } }] })
      const [, validated, finished] = await app.events(id)
      expect(validated?.data).toMatchObject({ type: 'output.validated', data: { ok: false, errors: [{}] } })
      expect(finished?.data.data).toMatchObject({ status: 'failed', error: { reason: 'output_invalid' } })
      expect(await readTask(app, id)).toMatchObject({ status: 'failed', output: null, artifacts: [] })
    })

    test('the output schema of the request replaces the schema of the task type', async () => {
      const input = [{ output: { said: 'x' } }]
      const own = { type: 'object', required: ['other'] }
      expect(await ended({ input, task_type: 'checked', output_schema: own })).toMatchObject({ status: 'failed' })
      expect(await ended({ input, output_schema: { type: 'object' } })).toMatchObject({ status: 'succeeded' })
    })

    test.each<[string, unknown, string, RegExp]>([
      ['an error that the agent reported', [{ error: 'no idea' }], 'agent_failed', /no idea/],
      ['a crash of the agent', ['crash'], 'agent_failed', /without an output/],
      ['an agent that ended without output', [], 'agent_failed', /without an output/],
    ])('the error of a failed task names %s', async (_, input, reason, message) => {
      expect(await ended({ input })).toMatchObject({
        status: 'failed',
        error: { reason, message: expect.stringMatching(message) },
      })
    })

    test('a missing connection fails the task before a sandbox starts', async () => {
      const task = await ended({ wedge: 'desk', task_type: 'idle' })
      expect(task).toMatchObject({ status: 'failed', error: { reason: 'connection_missing' } })
    })

    test('a run that exceeds its time limit fails', async () => {
      const app = await testApp({ store, wedges: DESK_WEDGES, env: SCRIPTED_AGENT })
      const { id } = await app.createTask({ input: ['hang'], constraints: { max_runtime_s: 3 } })
      await app.events(id, { until: ({ event }) => event === 'task.created' })
      await app.clock.advance(3_000)
      expect(await app.finished(id)).toMatchObject({ status: 'failed', error: { reason: 'runtime_exceeded' } })
    })

    test('an agent cannot write events of approvals, costs or the end of a task', async () => {
      const app = shared()
      const forged = ['task.finished', 'approval.resolved', 'cost.charged', 'task.created', 'nonsense']
      const lines = forged.map((event) => ({ event, data: { status: 'succeeded', cost_usd: 1 } }))
      const { id } = await app.createTask({
        input: [...lines, { event: 'progress', data: { text: 'ok' } }, { output: 1 }],
      })
      expect(await types(app, id)).toEqual([
        'task.created',
        'progress',
        'output.validated',
        'artifact.created',
        'task.finished',
      ])
      expect(await readTask(app, id)).toMatchObject({ cost_usd: 0 })
    })
  })
})

eachStore((store) => {
  describe('cancel a task', () => {
    const shared = sharedApp({
      store,
      wedges: DESK_WEDGES,
      env: { ...SCRIPTED_AGENT, ...NO_RATE_LIMIT, SVC_MAX_CONCURRENT_TASKS: '1' },
    })
    const cancelled = {
      status: 'cancelled',
      error: { reason: 'cancelled', message: expect.stringMatching(/cancelled/) },
      output: null,
    }

    test('a cancel ends a running, a queued and a provisioning task', async () => {
      const app = shared()
      const running = await startScriptedTask(app)
      const queued = await app.createTask()
      const provisioning = await app.createTask()
      // As claimed by a replica whose sandbox is slow to start.
      const claimed = { status: 'provisioning', epoch: 1, replica: app.ctx.replica }
      await app.ctx.db.updateTable('tasks').set(claimed).where('id', '=', provisioning.id).execute()
      for (const [id, status] of [
        [running, 'running'],
        [queued.id, 'queued'],
        [provisioning.id, 'provisioning'],
      ] as const) {
        expect((await readTask(app, id)).status).toBe(status)
      }
      for (const id of [provisioning.id, queued.id, running]) {
        const response = await cancelTask(app, id)
        expect(response).toMatchObject({ status: 200, body: { id, ...cancelled } })
        expect(response.body).toEqual(await readTask(app, id))
        // The log of a task that never ran also begins with `task.created`.
        expect(await types(app, id)).toEqual(['task.created', 'task.finished'])
      }
    })

    test('a cancel of a finished task returns 409 and changes nothing', async () => {
      const app = shared()
      const { id } = await app.createTask({ input: [{ output: 1 }] })
      const before = await app.finished(id)
      expectRefusal(await cancelTask(app, id), 409, 'task already finished')
      expect(await readTask(app, id)).toEqual(before)
    })

    test('one of fifty concurrent cancels wins', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const responses = await Promise.all(Array.from({ length: 50 }, () => cancelTask(app, id)))
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(responses.filter(({ status }) => status === 409)).toHaveLength(49)
      expect(await types(app, id)).toEqual(['task.created', 'task.finished'])
    })

    test('a cancel of an unknown task returns 404', async () => {
      expectRefusal(await cancelTask(shared(), 'task_00000000000000000000000000'), 404, 'no such task')
    })

    test('a cancel ignores its body but refuses malformed JSON', async () => {
      const app = shared()
      const id = await startScriptedTask(app)
      const path = `/v1/tasks/${id}/cancel`
      expectRefusal(await app.call('POST', path, undefined, { raw: '{' }), 400, /malformed/)
      expect((await app.call('POST', path, {})).status).toBe(200)
    })
  })
})
