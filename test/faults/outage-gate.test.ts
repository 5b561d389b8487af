import { expect, onTestFinished, test } from 'vitest'
import { approvalOf, type Desk, openDesk, startAct, wedgeFiles } from '../approvals/desk.ts'
import { migratedDatabase } from '../stores.ts'
import { dropDatabase } from '../postgres.ts'
import { Proxy } from './proxy.ts'
import { PATIENCE } from './rounds.ts'

async function wiredDesk(): Promise<{ desk: Desk; proxy: Proxy }> {
  const database = await migratedDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await Proxy.before(database)
  onTestFinished(() => proxy.close())
  const desk = await openDesk('postgres', wedgeFiles('gate'), { DATABASE_URL: proxy.url })
  onTestFinished(() => desk.outside.close())
  onTestFinished(() => desk.stop())
  return { desk, proxy }
}

async function healthy(desk: Desk): Promise<void> {
  while ((await desk.call('GET', '/health')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
}

test(
  'an action that was under way when the database went away is recorded with its outcome when it is back',
  async () => {
    const { desk, proxy } = await wiredDesk()
    const task = await startAct(desk)
    const id = await approvalOf(desk, task.id)
    desk.outside.answer = (_seen, response) => {
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
  PATIENCE,
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
    const task = await startAct(desk)
    const id = await approvalOf(desk, task.id)
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
  PATIENCE,
)

test(
  'a question that waits for a person outlives an outage',
  async () => {
    const { desk, proxy } = await wiredDesk()
    const task = await startAct(desk)
    const id = await approvalOf(desk, task.id)
    proxy.cut()
    await desk.clock.advance(1_000)
    expect((await desk.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(503)
    proxy.heal()
    await healthy(desk)
    expect((await desk.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(200)
    expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded' })
  },
  PATIENCE,
)
