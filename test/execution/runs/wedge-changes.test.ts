import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp, type TestApp, writeFiles } from '../../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from './scripted-agent.ts'

const WEDGE = { wedge: 'echo', title: 'Echo', task_types: { say: {}, gone: {} }, workflows: [{ name: 'send_price' }] }
const rehearsal = (said: string) => [
  { call: { tool: 'workflow', input: { name: 'send_price', args: {} } } },
  { output: { said, price: '{{last.price}}' } },
]
const files = (said: string, price: number) => ({
  'echo/wedge.json': WEDGE,
  'echo/rehearsals/say.json': rehearsal(said),
  'echo/workflows/send_price.mjs': `export default () => ({ price: ${price} })`,
})

async function approve(app: TestApp, id: string): Promise<void> {
  const { data } = await waitForEvent(app, id, 'approval.requested')
  await app.call('POST', `/v1/approvals/${data.data.approval_id}/approve`)
}

test('a run keeps the wedge version that it started with, and the next run has the new version', async () => {
  const app = await testApp({ store: 'sqlite', wedges: files('old', 1), env: { SVC_SANDBOX: 'bwrap' } })
  const { id } = await app.createTask()
  await waitForEvent(app, id, 'approval.requested')
  const before = app.ctx.wedges.get('echo')
  writeFiles(join(app.dir, 'wedges'), files('new', 2))
  while (app.ctx.wedges.get('echo') === before) await new Promise((resolve) => setTimeout(resolve, 50))
  await approve(app, id)
  expect(await app.finished(id)).toMatchObject({ output: { said: 'old', price: 1 } })
  const next = await app.createTask()
  await approve(app, next.id)
  expect(await app.finished(next.id)).toMatchObject({ output: { said: 'new', price: 2 } })
})

test('a queued task whose task type or wedge was removed fails and names the reason', async () => {
  const env = { SVC_SANDBOX: 'bwrap', SVC_MAX_CONCURRENT_TASKS: '1', ...scriptedAgentFolder() }
  const app = await testApp({
    store: 'sqlite',
    wedges: { ...files('x', 1), 'other/wedge.json': { wedge: 'other', title: 'Other', task_types: { say: {} } } },
    env,
  })
  const hanging = await startScript(
    app,
    `say({ event: 'progress', data: { text: 'on' } }); await new Promise(() => setInterval(() => {}, 1e6))`,
  )
  await waitForEvent(app, hanging, 'progress')
  const typeless = await app.createTask({ task_type: 'gone' })
  const wedgeless = await app.createTask({ wedge: 'other' })
  writeFiles(join(app.dir, 'wedges'), { 'echo/wedge.json': { ...WEDGE, task_types: { say: {} } } })
  rmSync(join(app.dir, 'wedges/other'), { recursive: true })
  while (app.ctx.wedges.get('other') || app.ctx.wedges.get('echo')?.manifest.task_types.gone) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await app.call('POST', `/v1/tasks/${hanging}/cancel`)
  for (const [task, message] of [
    [typeless, "no 'gone' any more"],
    [wedgeless, "'other' does not exist any more"],
  ] as const) {
    const finished = await app.finished(task.id)
    expect(finished).toMatchObject({ status: 'failed', error: { reason: 'agent_failed' } })
    expect(JSON.stringify(finished.error)).toContain(message)
  }
})
