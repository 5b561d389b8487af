import { afterEach, describe, expect, test } from 'vitest'
import type { GatedRun } from '../../src/approvals/gated-request.ts'
import { LazyAbort } from '../../src/base/lazy-abort.ts'
import { performAction } from '../../src/approvals/perform-action.ts'
import { findConnection } from '../../src/connections/rows.ts'
import { endTasksOfDeadReplicas } from '../../src/runs/replica-lease.ts'
import { HeartbeatMonitor } from '../../src/runs/heartbeat-monitor.ts'
import { eachStore } from '../app.ts'
import {
  requestedApprovalId,
  callsFor,
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
} from './gated-app.ts'
import { respondJson } from '../fake-upstream.ts'

eachStore((store) => {
  const shared = sharedGatedApp(store)
  const { answer } = {
    answer: (_: unknown, response: Parameters<typeof respondJson>[0]) => respondJson(response, 200, { done: true }),
  }
  afterEach(() => {
    shared().outside.respond = answer
  })

  /** Approves the one action of a task and waits for its end. */
  async function through(desk: GatedApp, input: Record<string, unknown> = {}) {
    const task = await startAction(desk, input)
    const id = await requestedApprovalId(desk, task.id)
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    const ended = await advanceUntilSettled(desk, desk.finished(task.id))
    const [action] = (await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
    return { id, ended, action }
  }

  test.each([
    ['crm', '/crm'],
    ['mail', '/mail'],
    ['hook', '/hook'],
  ])('an action through %s carries the approval as its idempotency key', async (connection, url) => {
    const desk = shared()
    const { id, ended, action } = await through(desk, { connection })
    expect(ended.output).toMatchObject({ ok: true, status: 200, result: { done: true }, approval_id: id })
    expect(callsFor(desk, id).map((call) => call.url)).toEqual([url])
    expect(action).toMatchObject({ approval_id: id, action: 'send_note', connection, outcome: 'ok', status: 200 })
  })

  test.each([
    [400, 'failed'],
    [404, 'failed'],
    [500, 'failed'],
    [302, 'failed'],
    [502, 'unknown'],
    [504, 'unknown'],
  ])('upstream %i is %s, is not tried again and does not end the task', async (status, outcome) => {
    const desk = shared()
    desk.outside.respond = (_seen, response) =>
      response.writeHead(status, { location: `${desk.outside.url}/elsewhere` }).end('no')
    const { id, ended, action } = await through(desk)
    expect(ended).toMatchObject({ status: 'succeeded', output: { ok: false, status, approval_id: id } })
    expect(action).toMatchObject({ outcome, status })
    expect(callsFor(desk, id)).toHaveLength(1)
  })

  test('a connection that breaks after the call left is unknown', async () => {
    const desk = shared()
    desk.outside.respond = (_seen, response) => response.destroy()
    const { id, ended, action } = await through(desk)
    expect(ended.output).toMatchObject({ ok: false, status: null })
    expect(action).toMatchObject({ outcome: 'unknown', status: null })
    expect(callsFor(desk, id)).toHaveLength(1)
  })

  test('an upstream that never answers is unknown after its time', async () => {
    const desk = shared()
    desk.outside.respond = () => {}
    const { id, action } = await through(desk)
    expect(action).toMatchObject({ outcome: 'unknown' })
    expect(callsFor(desk, id)).toHaveLength(1)
  })

  test('a connection that is gone by the time of the decision is not used', async () => {
    const desk = shared()
    const config = { api_url: `${desk.outside.url}/gone` }
    const task = await startAction(desk, { connection: 'mail' })
    const id = await requestedApprovalId(desk, task.id)
    const { data } = (await desk.call('GET', '/v1/connections')).body
    const mail = data.find(({ name }: { name: string }) => name === 'mail')
    expect((await desk.call('DELETE', `/v1/connections/${mail.id}`)).status).toBe(204)
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    expect((await desk.finished(task.id)).output).toMatchObject({ ok: false })
    expect(callsFor(desk, id)).toHaveLength(0)
    expect((await desk.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config })).status).toBe(201)
  })

  describe('between decision and call', () => {
    /** A run that is parked at its question, and what it would do the moment after the answer. */
    async function parked(desk: GatedApp) {
      const task = await startAction(desk)
      const id = await requestedApprovalId(desk, task.id)
      const row = await desk.ctx.db.selectFrom('tasks').selectAll().where('id', '=', task.id).executeTakeFirstOrThrow()
      const run = { taskId: task.id, epoch: row.epoch, over: new LazyAbort() } as GatedRun
      const approval = await approvalAt(desk, id)
      const connection = await findConnection(desk.ctx.db, approval.connection_id ?? '')
      if (!connection) throw new Error('no connection')
      const set = (values: object) =>
        desk.ctx.store.transact((db) => db.updateTable('approvals').set(values).where('id', '=', id).execute())
      return {
        id,
        task,
        run,
        approval,
        set,
        perform: (seen = approval) => performAction(desk.ctx, run, seen, connection),
      }
    }
    const approvalAt = (desk: GatedApp, id: string) =>
      desk.ctx.db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

    test.each(['pending', 'rejected', 'expired', 'withdrawn', '', 'Approved'])(
      'status %j executes nothing',
      async (status) => {
        const desk = shared()
        const { id, task, approval, set, perform } = await parked(desk)
        await set({ status })
        await expect(perform({ ...approval, status: 'approved' })).rejects.toThrow('approval')
        await set({ status: 'pending' })
        await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
        expect(callsFor(desk, id)).toHaveLength(0)
        expect((await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body.data).toEqual([])
      },
    )

    test('a payload that is not the one decided executes nothing', async () => {
      const desk = shared()
      const { id, task, approval, set, perform } = await parked(desk)
      await set({ status: 'approved' })
      await expect(perform({ ...approval, payload: '{"text":"other"}' })).rejects.toThrow('does not match its payload')
      await set({ payload_sha256: 'f'.repeat(64) })
      await expect(perform()).rejects.toThrow('approval')
      await set({ status: 'pending' })
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
      expect(callsFor(desk, id)).toHaveLength(0)
    })

    test('a run that is over executes nothing, approved or not', async () => {
      const desk = shared()
      const { id, task, set, perform } = await parked(desk)
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
      await set({ status: 'approved' })
      await expect(perform()).rejects.toThrow('the run is over')
      expect(callsFor(desk, id)).toHaveLength(0)
    })

    test('what a dead replica had sent is unknown, and nobody sends it again', async () => {
      const desk = shared()
      const { id, task, approval, set, perform } = await parked(desk)
      await set({ status: 'approved' })
      const { project_id, connection_id, action, payload_sha256, created_at } = approval
      const sent = { approval_id: id, task_id: task.id, connection: 'crm', outcome: 'sent', replica: 'rep_dead' }
      const effect = { ...sent, project_id, connection_id: connection_id ?? '', action, payload_sha256, created_at }
      await desk.ctx.store.transact((db) => db.insertInto('effects').values(effect).execute())
      await Promise.all([
        endTasksOfDeadReplicas(desk.ctx, new HeartbeatMonitor()),
        endTasksOfDeadReplicas(desk.ctx, new HeartbeatMonitor()),
      ])
      const [row] = (await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
      expect(row).toMatchObject({ outcome: 'unknown', status: null })
      await expect(perform()).rejects.toThrow('was used already')
      expect(callsFor(desk, id)).toHaveLength(0)
      await set({ status: 'pending' })
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('fifty that claim the same approval make one call', async () => {
      const desk = shared()
      const { id, task, set, perform } = await parked(desk)
      await set({ status: 'approved' })
      const done = await Promise.allSettled(Array.from({ length: 50 }, () => perform()))
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(callsFor(desk, id)).toHaveLength(1)
      await set({ status: 'pending' })
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })
})
