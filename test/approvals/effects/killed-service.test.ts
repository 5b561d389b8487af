import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { anyStore, FOUNDER_KEY, writeFiles } from '../../app.ts'
import { openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import { readEventStream } from '../../http.ts'
import { createMigratedDatabase, releaseMigratedDatabase } from '../../stores.ts'
import { addConnections, gatedWedgeFiles } from '../decisions/gated-app.ts'
import { QUESTION_WEDGE } from '../requests/question-app.ts'
import { serve } from './served-process.ts'

test('service killed during a call: the call is not repeated and its outcome is unknown', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFiles(join(dir, 'wedges'), gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'send_note' }] } }))
  mkdirSync(join(dir, 'blueprints'))
  const outside = await openFakeUpstream()
  onTestFinished(() => outside.close())
  // The call arrives and gets no response: the service is killed between claim and outcome.
  const arrived = new Promise<void>((resolve) => {
    outside.respond = () => resolve()
  })
  const first = await serve(dir)
  await addConnections(first, outside.url)
  const input = { connection: 'crm', action: 'send_note', payload: { text: 'once' } }
  const task = (await first.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input })).body
  await arrived
  const [before] = (await first.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
  expect(before).toMatchObject({ outcome: 'sent', finished_at: null })
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')

  outside.respond = (_request, response) => respondJson(response, 200, { done: true })
  const second = await serve(dir)
  const ended = (await second.call('GET', `/v1/tasks/${task.id}`)).body
  expect(ended).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
  expect(ended.error.message).toContain('interrupted by a restart')
  const [action, ...more] = (await second.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
  expect(more).toEqual([])
  expect(action).toMatchObject({ approval_id: before.approval_id, outcome: 'unknown', status: null })
  expect(action.finished_at).not.toBeNull()
  // A retry requests a new approval; the earlier effect does not change.
  const again = (await second.call('POST', `/v1/tasks/${task.id}/retry`)).body
  await readEventStream(`${second.url}/v1/tasks/${again.id}/events`, FOUNDER_KEY, 0)
  const keys = outside.received.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toHaveLength(2)
  expect(keys.filter((key) => key === before.approval_id)).toHaveLength(1)
  expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
})

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'service ended by %s while a run waits: the approval stays pending, and the run continues after the decision',
  async (signal) => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    writeFiles(join(dir, 'wedges'), gatedWedgeFiles('gate'))
    mkdirSync(join(dir, 'blueprints'))
    const outside = await openFakeUpstream()
    onTestFinished(() => outside.close())
    const first = await serve(dir)
    await addConnections(first, outside.url)
    const input = { connection: 'crm', action: 'send_note', payload: {} }
    const task = (await first.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input })).body
    const events = `${first.url}/v1/tasks/${task.id}/events`
    const asked = await readEventStream(events, FOUNDER_KEY, 0, ({ event }) => event === 'approval.requested')
    const approval = asked.at(-1)?.data.data.approval_id
    first.child.kill(signal)
    await once(first.child, 'exit')
    const second = await serve(dir)
    expect((await second.call('GET', `/v1/tasks/${task.id}`)).body.status).toBe('awaiting_approval')
    expect((await second.call('GET', `/v1/approvals/${approval}`)).body.status).toBe('pending')
    expect((await second.call('POST', `/v1/approvals/${approval}/approve`)).status).toBe(200)
    const log = await readEventStream(`${second.url}/v1/tasks/${task.id}/events`, FOUNDER_KEY, 0)
    expect(log.at(-1)?.data.data.status).toBe('succeeded')
    expect(log.map(({ id }) => Number(id))).toEqual(log.map((_, index) => index + 1))
    expect(outside.received.map(({ headers }) => headers['idempotency-key'])).toEqual([approval])
    expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  },
)

anyStore((store) => {
  test('service killed while an approval is held: the next process makes the approval, once', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    writeFiles(join(dir, 'wedges'), gatedWedgeFiles('gate'))
    mkdirSync(join(dir, 'blueprints'))
    const database = store === 'postgres' ? { DATABASE_URL: await createMigratedDatabase() } : null
    onTestFinished(async () => {
      if (database) await releaseMigratedDatabase(database.DATABASE_URL)
    })
    const outside = await openFakeUpstream()
    onTestFinished(() => outside.close())
    const first = await serve(dir, { ...database })
    await addConnections(first, outside.url)
    const input = { connection: 'crm', action: 'send_note', payload: {} }
    const task = (await first.call('POST', '/v1/tasks', { wedge: 'gate', task_type: 'act', input })).body
    const events = `${first.url}/v1/tasks/${task.id}/events`
    const asked = await readEventStream(events, FOUNDER_KEY, 0, ({ event }) => event === 'approval.requested')
    const approval = asked.at(-1)?.data.data.approval_id
    const held = await first.call('POST', `/v1/approvals/${approval}/approve`, { hold_s: 2 })
    expect(held).toMatchObject({ status: 200, body: { decision: 'held' } })
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    expect(outside.received).toEqual([])
    const second = await serve(dir, { ...database })
    const log = await readEventStream(`${second.url}/v1/tasks/${task.id}/events`, FOUNDER_KEY, 0)
    expect(log.at(-1)?.data.data.status).toBe('succeeded')
    expect(log.filter(({ event }) => event === 'approval.resolved')).toHaveLength(1)
    expect(outside.received.map(({ headers }) => headers['idempotency-key'])).toEqual([approval])
    expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('service killed while a parked run waits for an answer: the agent gets the answer once after the restart', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    writeFiles(join(dir, 'wedges'), QUESTION_WEDGE)
    mkdirSync(join(dir, 'blueprints'))
    const database = store === 'postgres' ? { DATABASE_URL: await createMigratedDatabase() } : null
    onTestFinished(async () => {
      if (database) await releaseMigratedDatabase(database.DATABASE_URL)
    })
    const first = await serve(dir, { SVC_PARK_AFTER_S: '0', ...database })
    const input = { question: 'Why?', to: 'team' }
    const task = (await first.call('POST', '/v1/tasks', { wedge: 'ask', task_type: 'text', input })).body
    const events = `${first.url}/v1/tasks/${task.id}/events`
    const asked = await readEventStream(events, FOUNDER_KEY, 0, ({ data }) => data.data.state === 'parked')
    const approval_id = asked.find(({ event }) => event === 'approval.requested')?.data.data.approval_id
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const second = await serve(dir, { ...database })
    expect((await second.call('GET', `/v1/approvals/${approval_id}`)).body.status).toBe('pending')
    const edited = { answer: 'because' }
    expect((await second.call('POST', `/v1/approvals/${approval_id}/approve`, { edited })).status).toBe(200)
    const log = await readEventStream(`${second.url}/v1/tasks/${task.id}/events`, FOUNDER_KEY, 0)
    const { body } = await second.call('GET', `/v1/tasks/${task.id}`)
    expect(body).toMatchObject({ status: 'succeeded', output: { got: { answered: true, answer: 'because' } } })
    expect(log.map(({ id }) => Number(id))).toEqual(log.map((_, index) => index + 1))
    for (const type of ['approval.requested', 'approval.resolved', 'tool.called', 'tool.result'])
      expect(log.filter(({ event }) => event === type)).toHaveLength(1)
    expect((await second.call('GET', '/v1/approvals?path=question')).body.data).toHaveLength(1)
    expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })
})
