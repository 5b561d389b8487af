import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, anyStore, sharedApp } from '../../app.ts'
import { scriptedAgentFolder, eventually, loggedLines, runScript, startScript, waitForEvent } from './scripted-agent.ts'

const agents = scriptedAgentFolder()
const env = { SVC_SANDBOX: 'bwrap', SVC_POOL: '1', SVC_TASK_RATE_PER_MIN: '10000', ...agents }
const GATED = `const decided = ask('POST', '/v1/internal/gate', { tool: 'send_letter', input: { to: 'a' } }, brief.service.gate_token)`
const SLOW_WORKFLOW = {
  ...ECHO_WEDGE,
  'echo/wedge.json': { ...ECHO_WEDGE['echo/wedge.json'], workflows: [{ name: 'slow' }] },
  'echo/workflows/slow.mjs': `export default () => { for (const until = Date.now() + 300; Date.now() < until; ); return 1 }`,
}

anyStore((store) => {
  describe('the runtime limit', () => {
    const app = sharedApp({ store, env, wedges: SLOW_WORKFLOW })

    test.each([
      ['computes without end', `say({ event: 'progress', data: { text: 'on' } }); for (;;);`],
      [
        'waits without end',
        `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`,
      ],
      [
        'suspends its parent process',
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

    test('time spent waiting for an approval does not count', async () => {
      const js = `${GATED}; const { body } = await decided
        say({ event: 'progress', data: { text: body.decision } }); for (;;);`
      const id = await startScript(app(), js, { constraints: { max_runtime_s: 30 } })
      const requested = await waitForEvent(app(), id, 'approval.requested')
      await app().clock.advance(120_000)
      await app().call('POST', `/v1/approvals/${requested.data.data.approval_id}/approve`)
      const { data } = await waitForEvent(app(), id, 'progress')
      expect(data.data.text).toBe('approved')
      await app().clock.advance(29_000)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
      await app().clock.advance(1_000)
      expect(await app().finished(id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    })

    test('time spent working during a pending approval counts', async () => {
      const js = `${GATED}; for (;;) await ask('POST', '/v1/internal/workflows/slow', { args: {} })`
      const id = await startScript(app(), js, { constraints: { max_runtime_s: 30 } })
      await waitForEvent(app(), id, 'approval.requested')
      const statusNow = async () => (await app().call('GET', `/v1/tasks/${id}`)).body.status
      // The test clock stands still between two calls. Without the limit the approval would expire first.
      while ((await statusNow()) === 'awaiting_approval') await app().clock.advance(1_000)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'runtime_exceeded' } })
    })

    test('an output during a pending approval fails the task and expires the approval', async () => {
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

    test('an agent that exits during a pending approval fails its task', async () => {
      const id = await startScript(app(), `${GATED}; await new Promise((r) => setTimeout(r, 300)); process.exit(1)`)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    })

    test('a cancel ends the agent immediately', async () => {
      const id = await startScript(app(), `say({ event: 'progress', data: { text: 'on' } }); for (;;);`)
      await waitForEvent(app(), id, 'progress')
      expect((await app().call('POST', `/v1/tasks/${id}/cancel`)).body.status).toBe('cancelled')
      await eventually(() => app().ctx.liveRuns.all().length === 0)
    })
  })
})

describe('an agent that writes too much', () => {
  const app = sharedApp({ store: 'sqlite', env, wedges: ECHO_WEDGE })

  test('too many events: the task fails, and the service responds meanwhile', async () => {
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

  test('too many bytes in large events: the task fails', async () => {
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
    ['refused lines', `const line = JSON.stringify({ event: 'made.up', data: {} }) + '\\n'`],
    ['large lines without meaning', `const line = JSON.stringify({ nothing: 'x'.repeat(2e6) }) + '\\n'`],
    [
      'more files than are kept',
      `const line = JSON.stringify({ artifact: { name: 'f', content_base64: 'aGk='.repeat(2e5) } }) + '\\n'`,
    ],
    [
      'empty files with large extra fields',
      `const line = JSON.stringify({ artifact: { name: 'f', content_base64: '', more: 'x'.repeat(2e6) } }) + '\\n'`,
    ],
  ])('%s: the task fails, and the log of the service stays short', async (_, declareLine) => {
    const id = await startScript(
      app(),
      `${declareLine}
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

  test('a line without end: the task fails', async () => {
    const { task } = await runScript(
      app(),
      `for (;;) { try { require('node:fs').writeSync(1, 'x'.repeat(65536)) } catch {} }`,
    )
    expect(task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(task.error.message).toContain('longer than')
  })

  test('sixty files: fifty of them are kept', async () => {
    const { task } = await runScript(
      app(),
      `for (let i = 0; i < 60; i++) say({ artifact: { name: 'f' + i, content_base64: 'aGk=' } })
       say({ artifact: { name: 'big', content_base64: 'A'.repeat(14.5e6) } })
       say({ output: 1 })`,
    )
    expect(task.artifacts).toHaveLength(51)
    expect(task.artifacts[1]).toMatchObject({ name: 'f0', content_type: 'application/octet-stream', size: 2 })
  })

  test('more than 100,000 files: the task fails with that reason', async () => {
    const { task } = await runScript(
      app(),
      `const fs = require('node:fs')
       for (let n = 0; n < 110_000; n++) fs.symlinkSync('x', '/tmp/' + n)
       await new Promise((r) => setTimeout(r, 10_000)); say({ output: 'made' })`,
    )
    expect(task).toMatchObject({
      status: 'failed',
      error: { reason: 'agent_failed', message: expect.stringContaining('more than 100,000 files') },
    })
  })

  test('too many processes or too much memory: other tasks are not affected', async () => {
    const memoryHog = `const all = []; for (;;) all.push(Buffer.alloc(32e6, 1))`
    const forkBomb = `const { spawn } = require('node:child_process')
      for (let i = 0; i < 500; i++) spawn('sleep', ['1000']).on('error', () => {})
      await new Promise((r) => setTimeout(r, 300)); say({ output: 'forked' })`
    const [outOfMemory, forked] = await Promise.all([runScript(app(), memoryHog), runScript(app(), forkBomb)])
    expect(outOfMemory.task).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(['succeeded', 'failed']).toContain(forked.task.status)
    const { task } = await runScript(app(), `say({ output: 'fine' })`)
    expect(task.status).toBe('succeeded')
  })
})
