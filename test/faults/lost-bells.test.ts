import { expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { testApp, type TestApp } from '../app.ts'
import { type Answered, call } from '../http.ts'
import { agentFolder, playing, until } from '../runs/agents.ts'

const env = { SVC_SANDBOX: 'bwrap', ...agentFolder() }
const GATE = `const { body } = await ask('POST', '/v1/internal/gate', { tool: 'send' }, brief.service.gate_token); say({ output: body })`

/** A call at another replica, which runs nothing itself and dies before it can ring. */
async function unheard(app: TestApp, path: string, body: object = {}): Promise<Answered> {
  const config = { ...app.ctx.config, maxConcurrentTasks: 0, dataDir: `${app.ctx.config.dataDir}-other` }
  const other = await startApp(config, app.ctx.world)
  other.ctx.store.tell = () => {}
  try {
    return await call(other.url, app.key, 'POST', path, body)
  } finally {
    await other.stop()
  }
}

test('a decision of which no bell told is found at the next look, and the run goes on', async () => {
  const app = await testApp({ store: 'postgres', env })
  const id = await playing(app, GATE)
  const { data } = await until(app, id, 'approval.requested')
  const decided = await unheard(app, `/v1/approvals/${data.data.approval_id}/approve`)
  expect(decided).toMatchObject({ status: 200, body: { decision: 'approved' } })
  await app.clock.advance(700)
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { decision: 'approved' } })
})
