import { expect, onTestFinished, test } from 'vitest'
import {
  requestedApprovalId,
  type GatedApp,
  openGatedApp,
  startAction,
  gatedWedgeFiles,
} from '../approvals/decisions/gated-app.ts'
import { createMigratedDatabase } from '../stores.ts'
import { dropDatabase } from '../postgres.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { inMatrix, onlyInMatrix } from '../matrix.ts'

async function proxiedGatedApp(): Promise<{ app: GatedApp; proxy: TcpProxy }> {
  const database = await createMigratedDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await TcpProxy.openFor(database)
  onTestFinished(() => proxy.close())
  const app = await openGatedApp('postgres', gatedWedgeFiles('gate'), { DATABASE_URL: proxy.url })
  onTestFinished(() => app.outside.close())
  onTestFinished(() => app.stop())
  return { app, proxy }
}

async function waitUntilHealthy(app: GatedApp): Promise<void> {
  while ((await app.call('GET', '/health')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
}

test(
  'database outage during an action: the outcome is recorded when the database is back',
  async () => {
    const { app, proxy } = await proxiedGatedApp()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    app.outside.respond = (_request, response) => {
      proxy.cut()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}')
      setTimeout(() => proxy.heal(), 1_000)
    }
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    await expect.poll(() => app.outside.received.length).toBe(1)
    await waitUntilHealthy(app)
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { ok: true, approval_id: id } })
    const { data } = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body
    expect(data).toMatchObject([{ approval_id: id, outcome: 'ok', status: 200 }])
    expect(app.outside.received).toHaveLength(1)
    expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
  },
  FAULT_TIMEOUT_MS,
)

const COMMITS = ['insert into "approvals"', 'insert into "effects"', 'update "effects"'].flatMap((statement) => [
  ['before', statement] as const,
  ['after', statement] as const,
])

test.each(inMatrix(COMMITS, [['after', 'update "effects"']]))(
  'connection cut %s the commit of "%s": one approval, one call and one outcome remain',
  async (moment, statement) => {
    const { app, proxy } = await proxiedGatedApp()
    const disconnected = proxy.cutAt('commit', moment, statement)
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    await disconnected
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { ok: true, approval_id: id } })
    const { data } = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body
    expect(data).toMatchObject([{ approval_id: id, outcome: 'ok' }])
    expect((await app.call('GET', '/v1/approvals')).body.data).toHaveLength(1)
    expect(app.outside.received).toHaveLength(1)
    const executed = await app.call('GET', `/v1/audit?action=action.executed&subject=${id}`)
    expect(executed.body.data).toHaveLength(1)
  },
  FAULT_TIMEOUT_MS,
)

onlyInMatrix(() => {
  test(
    'a pending approval survives a database outage',
    async () => {
      const { app, proxy } = await proxiedGatedApp()
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      proxy.cut()
      await app.clock.advance(1_000)
      expect((await app.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(503)
      proxy.heal()
      await waitUntilHealthy(app)
      expect((await app.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(200)
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
    },
    FAULT_TIMEOUT_MS,
  )
})
