import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, eachStore, sharedApp } from '../app.ts'
import { scriptedAgentFolder, eventually, loggedLines, runScript, startScript, waitForEvent } from './scripted-agent.ts'

const agents = scriptedAgentFolder()
const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000', ...agents }
const GATED = `const decided = ask('POST', '/v1/internal/gate', { tool: 'send_letter', input: { to: 'a' } }, brief.service.gate_token)`
const DAWDLING = {
  ...ECHO_WEDGE,
  'echo/wedge.json': { ...ECHO_WEDGE['echo/wedge.json'], workflows: [{ name: 'dawdle' }] },
  'echo/workflows/dawdle.mjs': `export default () => { for (const until = Date.now() + 300; Date.now() < until; ); return 1 }`,
}

eachStore((store) => {
  describe('the time of a run', () => {
    const app = sharedApp({ store, env, wedges: DAWDLING })

    test.each([
      ['works for ever', `say({ event: 'progress', data: { text: 'on' } }); for (;;);`],
      [
        'waits for ever',
        `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`,
      ],
      [
        'stops its keeper',
        `say({ event: 'progress', data: { text: 'on' } }); process.kill(process.ppid, 'SIGSTOP'); for (;;);`,
      ],
    ])('an agent that %s fails with runtime_exceeded, by the clock of the service', async (_, js) => {
      const id = await startScript(app(), js, { constraints: { max_runtime_s: 30 } })
      await waitForEvent(app(), id, 'progress')
      await app().clock.advance(29_000)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
      await app().clock.advance(1_000)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'runtime_exceeded' } })
    })

    test('time spent waiting for a person does not count', async () => {
      const js = `${GATED}; const { body } = await decided
        say({ event: 'progress', data: { text: body.decision } }); for (;;);`
      const id = await startScript(app(), js, { constraints: { max_runtime_s: 30 } })
      const asked = await waitForEvent(app(), id, 'approval.requested')
      await app().clock.advance(120_000)
      await app().call('POST', `/v1/approvals/${asked.data.data.approval_id}/approve`)
      const { data } = await waitForEvent(app(), id, 'progress')
      expect(data.data.text).toBe('approved')
      await app().clock.advance(29_000)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
      await app().clock.advance(1_000)
      expect(await app().finished(id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    })

    test('work that goes on while a person is asked does', async () => {
      const js = `${GATED}; for (;;) await ask('POST', '/v1/internal/workflows/dawdle', { args: {} })`
      const id = await startScript(app(), js, { constraints: { max_runtime_s: 30 } })
      await waitForEvent(app(), id, 'approval.requested')
      const statusNow = async () => (await app().call('GET', `/v1/tasks/${id}`)).body.status
      // Between two calls time stands still; nobody answers, so at last the question expires.
      while ((await statusNow()) === 'awaiting_approval') await app().clock.advance(1_000)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'runtime_exceeded' } })
    })

    test('an output that does not wait for the person fails the task and closes the question', async () => {
      const id = await startScript(
        app(),
        `${GATED}; await new Promise((r) => setTimeout(r, 300)); say({ output: 'done' })`,
      )
      expect(await app().finished(id)).toMatchObject({
        status: 'failed',
        output: null,
        error: { reason: 'agent_failed' },
      })
      const { body } = await app().call('GET', `/v1/approvals?task_id=${id}`)
      expect(body.data.filter((approval: { task_id: string }) => approval.task_id === id)).toMatchObject([
        { status: 'expired' },
      ])
    })

    test('an agent that ends while a person is asked fails its task', async () => {
      const id = await startScript(app(), `${GATED}; await new Promise((r) => setTimeout(r, 300)); process.exit(1)`)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    })

    test('a cancel ends the agent at once', async () => {
      const id = await startScript(app(), `say({ event: 'progress', data: { text: 'on' } }); for (;;);`)
      await waitForEvent(app(), id, 'progress')
      expect((await app().call('POST', `/v1/tasks/${id}/cancel`)).body.status).toBe('cancelled')
      await eventually(() => app().ctx.liveRuns.all().length === 0)
    })
  })
})

describe('an agent that floods', () => {
  const app = sharedApp({ store: 'sqlite', env, wedges: ECHO_WEDGE })

  test('with events, ends when there are too many, and the service answers meanwhile', async () => {
    const id = await startScript(
      app(),
      `const line = JSON.stringify({ event: 'token.delta', data: { text: 'x' } }) + '\\n'
       for (;;) { try { require('node:fs').writeSync(1, line.repeat(1000)) } catch {} }`,
    )
    await waitForEvent(app(), id, 'token.delta')
    expect((await app().call('GET', '/v1/tasks')).status).toBe(200)
    await eventually(async () => (await app().call('GET', `/v1/tasks/${id}`)).body.status === 'failed')
    const { body } = await app().call('GET', `/v1/tasks/${id}`)
    expect(body.error).toEqual({ reason: 'agent_failed', message: 'the agent wrote too much' })
    expect(body.last_event_id).toBeLessThanOrEqual(200_002)
  })

  test('with large events, ends when it is too much in all', async () => {
    const id = await startScript(
      app(),
      `const text = 'x'.repeat(15000)
       for (;;) say({ event: 'progress', data: { text } })`,
    )
    await eventually(async () => (await app().call('GET', `/v1/tasks/${id}`)).body.status === 'failed')
    const { body } = await app().call('GET', `/v1/tasks/${id}`)
    expect(body.error.reason).toBe('agent_failed')
    expect(body.last_event_id).toBeLessThan(5_000)
  })

  test.each([
    ['with lines that are refused', `const line = JSON.stringify({ event: 'made.up', data: {} }) + '\\n'`],
    ['with large lines that mean nothing', `const line = JSON.stringify({ nothing: 'x'.repeat(2e6) }) + '\\n'`],
    [
      'with files beyond those that are kept',
      `const line = JSON.stringify({ artifact: { name: 'f', content_base64: 'aGk='.repeat(2e5) } }) + '\\n'`,
    ],
    [
      'with files that hold nothing',
      `const line = JSON.stringify({ artifact: { name: 'f', content_base64: '', more: 'x'.repeat(2e6) } }) + '\\n'`,
    ],
  ])('%s, ends too, and the log of the service stays short', async (_, what) => {
    const id = await startScript(
      app(),
      `${what}
       const many = Buffer.from(line.repeat(Math.ceil(60000 / line.length)))
       for (;;) for (let rest = many; rest.length > 0; ) {
         try { rest = rest.subarray(require('node:fs').writeSync(1, rest)) } catch {}
       }`,
    )
    await eventually(async () => (await app().call('GET', `/v1/tasks/${id}`)).body.status === 'failed')
    const { body } = await app().call('GET', `/v1/tasks/${id}`)
    expect(body.error).toEqual({ reason: 'agent_failed', message: 'the agent wrote too much' })
    const refused = loggedLines(app(), 'agent line refused').filter((line) => line.task === id)
    expect(refused.length).toBeLessThanOrEqual(100)
  })

  test('with a line that never ends, fails', async () => {
    const { task } = await runScript(
      app(),
      `for (;;) { try { require('node:fs').writeSync(1, 'x'.repeat(65536)) } catch {} }`,
    )
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain('longer than')
  })

  test('with files, delivers fifty of them', async () => {
    const { task } = await runScript(
      app(),
      `for (let i = 0; i < 60; i++) say({ artifact: { name: 'f' + i, content_base64: 'aGk=' } })
       say({ artifact: { name: 'big', content_base64: 'A'.repeat(14.5e6) } })
       say({ output: 1 })`,
    )
    expect(task.artifacts).toHaveLength(51)
    expect(task.artifacts[1]).toMatchObject({ name: 'f0', content_type: 'application/octet-stream', size: 2 })
  })

  test('with processes and memory, harms only itself', async () => {
    const hog = `const all = []; for (;;) all.push(Buffer.alloc(32e6, 1))`
    const bomb = `const { spawn } = require('node:child_process')
      for (let i = 0; i < 500; i++) spawn('sleep', ['1000']).on('error', () => {})
      await new Promise((r) => setTimeout(r, 300)); say({ output: 'bombed' })`
    const [hogged, bombed] = await Promise.all([runScript(app(), hog), runScript(app(), bomb)])
    expect(hogged.task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(['succeeded', 'failed']).toContain(bombed.task.status)
    const { task } = await runScript(app(), `say({ output: 'well' })`)
    expect(task.status).toBe('succeeded')
  })
})
