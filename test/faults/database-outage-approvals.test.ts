import { expect, onTestFinished, test } from 'vitest'
import {
  requestedApprovalId,
  type GatedApp,
  openGatedApp,
  startAction,
  gatedWedgeFiles,
} from '../approvals/gated-app.ts'
import { createMigratedDatabase } from '../stores.ts'
import { dropDatabase } from '../postgres.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'

async function wiredDesk(): Promise<{ desk: GatedApp; proxy: TcpProxy }> {
  const database = await createMigratedDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await TcpProxy.openFor(database)
  onTestFinished(() => proxy.close())
  const desk = await openGatedApp('postgres', gatedWedgeFiles('gate'), { DATABASE_URL: proxy.url })
  onTestFinished(() => desk.outside.close())
  onTestFinished(() => desk.stop())
  return { desk, proxy }
}

async function healthy(desk: GatedApp): Promise<void> {
  while ((await desk.call('GET', '/health')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
}

test(
  'an action that was under way when the database went away is recorded with its outcome when it is back',
  async () => {
    const { desk, proxy } = await wiredDesk()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    desk.outside.respond = (_seen, response) => {
      proxy.cut()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}')
      setTimeout(() => proxy.heal(), 1_000)
    }
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    await expect.poll(() => desk.outside.received.length).toBe(1)
    await healthy(desk)
    expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded', output: { ok: true, approval_id: id } })
    const { data } = (await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body
    expect(data).toMatchObject([{ approval_id: id, outcome: 'ok', status: 200 }])
    expect(desk.outside.received).toHaveLength(1)
    expect((await desk.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
  },
  FAULT_TIMEOUT_MS,
)

test.each([
  ['before', 'insert into "approvals"'],
  ['after', 'insert into "approvals"'],
  ['before', 'insert into "effects"'],
  ['after', 'insert into "effects"'],
  ['before', 'update "effects"'],
  ['after', 'update "effects"'],
] as const)(
  'a wire that is cut %s the commit of "%s" leaves one question, one call and one outcome',
  async (moment, statement) => {
    const { desk, proxy } = await wiredDesk()
    const happened = proxy.cutAt('commit', moment, statement)
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    await happened
    expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded', output: { ok: true, approval_id: id } })
    const { data } = (await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body
    expect(data).toMatchObject([{ approval_id: id, outcome: 'ok' }])
    expect((await desk.call('GET', '/v1/approvals')).body.data).toHaveLength(1)
    expect(desk.outside.received).toHaveLength(1)
    const executed = await desk.call('GET', `/v1/audit?action=action.executed&subject=${id}`)
    expect(executed.body.data).toHaveLength(1)
  },
  FAULT_TIMEOUT_MS,
)

test(
  'a question that waits for a person outlives an outage',
  async () => {
    const { desk, proxy } = await wiredDesk()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    proxy.cut()
    await desk.clock.advance(1_000)
    expect((await desk.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(503)
    proxy.heal()
    await healthy(desk)
    expect((await desk.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(200)
    expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded' })
  },
  FAULT_TIMEOUT_MS,
)
