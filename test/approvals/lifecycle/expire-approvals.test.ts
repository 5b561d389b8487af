import { describe, expect, test, vi } from 'vitest'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { expireDueApprovals } from '../../../src/approvals/lifecycle/expire-approvals.ts'
import { eachStore } from '../../app.ts'
import {
  advanceUntilSettled,
  callsFor,
  type GatedApp,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../decisions/gated-app.ts'

const MINUTES_5 = 300_000

eachStore((store) => {
  describe('an approval without a decision', () => {
    const shared = sharedGatedApp(store)

    test('the approval and its task expire after five minutes, without an approval.resolved event', async () => {
      const app = shared()
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      await app.clock.advance(MINUTES_5 - 1)
      expect((await app.call('GET', `/v1/approvals/${id}`)).body.status).toBe('pending')
      await app.clock.advance(1)
      const ended = await advanceUntilSettled(app, app.finished(task.id))
      expect(ended).toMatchObject({ status: 'expired', error: { reason: 'expired' } })
      expect((await app.call('GET', `/v1/approvals/${id}`)).body.status).toBe('expired')
      const types = (await app.events(task.id)).map(({ event }) => event)
      expect(types).not.toContain('approval.resolved')
      expect(types.at(-1)).toBe('task.finished')
      for (const decision of ['approve', 'reject']) {
        const response = await app.call('POST', `/v1/approvals/${id}/${decision}`)
        expect(response).toMatchObject({ status: 409, body: { error: 'approval already decided (expired)' } })
      }
      expect(callsFor(app, id)).toHaveLength(0)
      const { data } = (await app.call('GET', '/v1/audit?limit=200')).body
      const lines = data.filter(({ subject }: { subject: string }) => subject === id)
      expect(lines.map(({ action }: { action: string }) => action)).toContain('approval.expired')
    })

    test('a decision after expires_at is refused, even before the sweep', async () => {
      const app = shared()
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const due = app.clock.now() + MINUTES_5
      const clock = vi.spyOn(app.clock, 'now').mockReturnValue(due)
      const response = await app.call('POST', `/v1/approvals/${id}/approve`, {})
      clock.mockRestore()
      expect(response).toMatchObject({ status: 409, body: { error: 'approval already decided (expired)' } })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
      expect(callsFor(app, id)).toHaveLength(0)
    })

    test('the time that a run waits for an approval does not count towards its time limit', async () => {
      const app = shared()
      const task = await startAction(app, {}, { constraints: { max_runtime_s: 5 } })
      const id = await requestedApprovalId(app, task.id)
      await app.clock.advance(200_000)
      await app.call('POST', `/v1/approvals/${id}/approve`, {})
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
    })

    test('every replica can expire due approvals, and each expires once', async () => {
      const app = shared()
      const { taskId, approvalId } = await askedElsewhere(app)
      await Promise.all([expireDueApprovals(app.ctx), expireDueApprovals(app.ctx), expireDueApprovals(app.ctx)])
      expect((await app.call('GET', `/v1/approvals/${approvalId}`)).body.status).toBe('expired')
      expect((await app.call('GET', `/v1/tasks/${taskId}`)).body).toMatchObject({ status: 'expired' })
      const finished = (await app.events(taskId)).filter(({ event }) => event === 'task.finished')
      expect(finished).toHaveLength(1)
    })
  })

  describe('the setting SVC_APPROVAL_TTL_S', () => {
    const shared = sharedGatedApp(store, { env: { SVC_APPROVAL_TTL_S: '20' } })

    test('the setting changes the expiry, and a request cannot', async () => {
      const app = shared()
      const task = await startAction(app, {}, { constraints: { approval_ttl_s: 9999 } })
      const id = await requestedApprovalId(app, task.id)
      const { created_at, expires_at } = (await app.call('GET', `/v1/approvals/${id}`)).body
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(20_000)
      await app.clock.advance(20_000)
      expect(await advanceUntilSettled(app, app.finished(task.id))).toMatchObject({ status: 'expired' })
    })
  })
})

/** A run of another live replica, with a pending approval that is past its expiry. */
async function askedElsewhere(app: GatedApp): Promise<{ taskId: string; approvalId: string }> {
  const task = await startAction(app)
  const approvalId = await requestedApprovalId(app, task.id)
  await app.call('POST', `/v1/tasks/${task.id}/cancel`)
  const taskId = app.ctx.world.newId('task')
  const id = app.ctx.world.newId('apr')
  const long = toIsoTime(app.clock.now() - 1)
  await app.ctx.store.transact(async (db) => {
    const heartbeat = { id: 'rep_other', started_at: long, seen_at: '2099-01-01T00:00:00.000Z' }
    await db.insertInto('replicas').values(heartbeat).execute()
    const ran = await db.selectFrom('tasks').selectAll().where('id', '=', task.id).executeTakeFirstOrThrow()
    const waits = {
      status: 'awaiting_approval',
      replica: 'rep_other',
      error: null,
      finished_at: null,
      last_event_id: 0,
    }
    await db
      .insertInto('tasks')
      .values({ ...ran, ...waits, id: taskId })
      .execute()
    const row = await db.selectFrom('approvals').selectAll().where('id', '=', approvalId).executeTakeFirstOrThrow()
    const open = { status: 'pending', expires_at: long, decided_at: null, decided_by_kind: null, decided_by_id: null }
    await db
      .insertInto('approvals')
      .values({ ...row, ...open, id, task_id: taskId })
      .execute()
  })
  return { taskId, approvalId: id }
}
