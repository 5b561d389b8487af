import { afterEach, describe, expect, test } from 'vitest'
import type { GatedRun } from '../../../src/approvals/policy/gated-request.ts'
import { performAction } from '../../../src/approvals/effects/perform-action.ts'
import { LazyAbort } from '../../../src/platform/base/lazy-abort.ts'
import { findConnection } from '../../../src/connections/connection/rows.ts'
import { endTasksOfDeadReplicas } from '../../../src/execution/runs/replicas/dead-replicas.ts'
import { HeartbeatMonitor } from '../../../src/execution/runs/replicas/heartbeat-monitor.ts'
import { eachStore } from '../../app.ts'
import { respondJson } from '../../fake-upstream.ts'
import {
  advanceUntilSettled,
  callsFor,
  type GatedApp,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../decisions/gated-app.ts'

eachStore((store) => {
  const shared = sharedGatedApp(store)
  afterEach(() => {
    shared().outside.respond = (_request, response) => respondJson(response, 200, { done: true })
  })

  /** Approves the action of a task and waits until the task has ended. */
  async function through(app: GatedApp, input: Record<string, unknown> = {}) {
    const task = await startAction(app, input)
    const id = await requestedApprovalId(app, task.id)
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    const ended = await advanceUntilSettled(app, app.finished(task.id))
    const [action] = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
    return { id, ended, action }
  }

  test.each([
    ['crm', '/crm'],
    ['mail', '/mail'],
    ['hook', '/hook'],
  ])('an action through %s has the approval id as its idempotency key', async (connection, url) => {
    const app = shared()
    const { id, ended, action } = await through(app, { connection })
    expect(ended.output).toMatchObject({ ok: true, status: 200, result: { done: true }, approval_id: id })
    expect(callsFor(app, id).map((call) => call.url)).toEqual([url])
    expect(action).toMatchObject({ approval_id: id, action: 'send_note', connection, outcome: 'ok', status: 200 })
  })

  test.each([
    [400, 'failed'],
    [404, 'failed'],
    [500, 'failed'],
    [302, 'failed'],
    [502, 'unknown'],
    [504, 'unknown'],
  ])('an upstream status %i is the outcome %s, is not retried and does not end the task', async (status, outcome) => {
    const app = shared()
    app.outside.respond = (_request, response) =>
      response.writeHead(status, { location: `${app.outside.url}/elsewhere` }).end('no')
    const { id, ended, action } = await through(app)
    expect(ended).toMatchObject({ status: 'succeeded', output: { ok: false, status, approval_id: id } })
    expect(action).toMatchObject({ outcome, status })
    expect(callsFor(app, id)).toHaveLength(1)
  })

  test('a network connection that breaks after the request was sent is the outcome unknown', async () => {
    const app = shared()
    app.outside.respond = (_request, response) => response.destroy()
    const { id, ended, action } = await through(app)
    expect(ended.output).toMatchObject({ ok: false, status: null })
    expect(action).toMatchObject({ outcome: 'unknown', status: null })
    expect(callsFor(app, id)).toHaveLength(1)
  })

  test('an upstream that does not respond before the timeout is the outcome unknown', async () => {
    const app = shared()
    app.outside.respond = () => {}
    const { id, action } = await through(app)
    expect(action).toMatchObject({ outcome: 'unknown' })
    expect(callsFor(app, id)).toHaveLength(1)
  })

  test('a connection that was deleted before the decision is not used', async () => {
    const app = shared()
    const config = { api_url: `${app.outside.url}/gone` }
    const task = await startAction(app, { connection: 'mail' })
    const id = await requestedApprovalId(app, task.id)
    const { data } = (await app.call('GET', '/v1/connections')).body
    const mail = data.find(({ name }: { name: string }) => name === 'mail')
    expect((await app.call('DELETE', `/v1/connections/${mail.id}`)).status).toBe(204)
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    expect((await app.finished(task.id)).output).toMatchObject({ ok: false })
    expect(callsFor(app, id)).toHaveLength(0)
    expect((await app.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config })).status).toBe(201)
  })

  describe('between the decision and the call', () => {
    /** A run that waits for its approval, and the call that it would make right after the decision. */
    async function startWaitingRun(app: GatedApp) {
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const row = await app.ctx.db.selectFrom('tasks').selectAll().where('id', '=', task.id).executeTakeFirstOrThrow()
      const run = {
        taskId: task.id,
        task: row,
        epoch: row.epoch,
        over: new LazyAbort(),
        keepsResults: () => false,
        whileWorking: (work: () => Promise<unknown>) => work(),
        askForServer: () => async () => null,
      } as unknown as GatedRun
      const approval = await approvalAt(app, id)
      const connection = await findConnection(app.ctx.db, approval.connection_id ?? '')
      if (!connection) throw new Error('no connection')
      const set = (values: object) =>
        app.ctx.store.transact((db) => db.updateTable('approvals').set(values).where('id', '=', id).execute())
      return {
        id,
        task,
        run,
        approval,
        set,
        perform: (seen = approval) =>
          performAction(app.ctx, { run, approval: seen, connection, onOutcome: async () => {} }),
      }
    }
    const approvalAt = (app: GatedApp, id: string) =>
      app.ctx.db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

    test.each(['pending', 'rejected', 'expired', 'withdrawn', '', 'Approved'])(
      'an approval with status %j sends nothing',
      async (status) => {
        const app = shared()
        const { id, task, approval, set, perform } = await startWaitingRun(app)
        await set({ status })
        await expect(perform({ ...approval, status: 'approved' })).rejects.toThrow('approval')
        await set({ status: 'pending' })
        await app.call('POST', `/v1/tasks/${task.id}/cancel`)
        expect(callsFor(app, id)).toHaveLength(0)
        expect((await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data).toEqual([])
      },
    )

    test('a payload that differs from the decided one is not sent', async () => {
      const app = shared()
      const { id, task, approval, set, perform } = await startWaitingRun(app)
      await set({ status: 'approved' })
      await expect(perform({ ...approval, payload: '{"text":"other"}' })).rejects.toThrow('does not match its payload')
      await set({ payload_sha256: 'f'.repeat(64) })
      await expect(perform()).rejects.toThrow('approval')
      await set({ status: 'pending' })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
      expect(callsFor(app, id)).toHaveLength(0)
    })

    test('a run that has ended sends nothing, approved or not', async () => {
      const app = shared()
      const { id, task, set, perform } = await startWaitingRun(app)
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
      await set({ status: 'approved' })
      await expect(perform()).rejects.toThrow('the run has ended')
      expect(callsFor(app, id)).toHaveLength(0)
    })

    test('an action that a dead replica sent becomes unknown and is not sent again', async () => {
      const app = shared()
      const { id, task, approval, set, perform } = await startWaitingRun(app)
      await set({ status: 'approved' })
      const { project_id, connection_id, action, payload_sha256, created_at } = approval
      const sent = { id, task_id: task.id, connection: 'crm', outcome: 'sent', replica: 'rep_dead' }
      const effect = { ...sent, project_id, connection_id: connection_id ?? '', action, payload_sha256, created_at }
      await app.ctx.store.transact((db) => db.insertInto('effects').values(effect).execute())
      await Promise.all([
        endTasksOfDeadReplicas(app.ctx, new HeartbeatMonitor()),
        endTasksOfDeadReplicas(app.ctx, new HeartbeatMonitor()),
      ])
      const [row] = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
      expect(row).toMatchObject({ outcome: 'unknown', status: null })
      await expect(perform()).rejects.toThrow('was used already')
      expect(callsFor(app, id)).toHaveLength(0)
      await set({ status: 'pending' })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('fifty concurrent claims of one approval send one call', async () => {
      const app = shared()
      const { id, task, set, perform } = await startWaitingRun(app)
      await set({ status: 'approved' })
      const done = await Promise.allSettled(Array.from({ length: 50 }, () => perform()))
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(callsFor(app, id)).toHaveLength(1)
      await set({ status: 'pending' })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })
})
