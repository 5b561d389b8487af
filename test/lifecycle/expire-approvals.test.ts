import { describe, expect, test, vi } from 'vitest'
import { expireDueApprovals } from '../../src/lifecycle/expire-approvals.ts'
import { toIsoTime } from '../../src/ctx/world.ts'
import { eachStore } from '../app.ts'
import {
  requestedApprovalId,
  callsFor,
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
} from '../approvals/gated-app.ts'

const MINUTES_5 = 300_000

eachStore((store) => {
  describe('nobody answers', () => {
    const shared = sharedGatedApp(store)

    test('after five minutes the approval and its task expire, without a decision in the log', async () => {
      const desk = shared()
      const task = await startAction(desk)
      const id = await requestedApprovalId(desk, task.id)
      await desk.clock.advance(MINUTES_5 - 1)
      expect((await desk.call('GET', `/v1/approvals/${id}`)).body.status).toBe('pending')
      await desk.clock.advance(1)
      const ended = await advanceUntilSettled(desk, desk.finished(task.id))
      expect(ended).toMatchObject({ status: 'expired', error: { reason: 'expired' } })
      expect((await desk.call('GET', `/v1/approvals/${id}`)).body.status).toBe('expired')
      const types = (await desk.events(task.id)).map(({ event }) => event)
      expect(types).not.toContain('approval.resolved')
      expect(types.at(-1)).toBe('task.finished')
      for (const decision of ['approve', 'reject']) {
        const late = await desk.call('POST', `/v1/approvals/${id}/${decision}`)
        expect(late).toMatchObject({ status: 409, body: { error: 'approval already decided (expired)' } })
      }
      expect(callsFor(desk, id)).toHaveLength(0)
      const { data } = (await desk.call('GET', '/v1/audit?limit=200')).body
      const lines = data.filter(({ subject }: { subject: string }) => subject === id)
      expect(lines.map(({ action }: { action: string }) => action)).toContain('approval.expired')
    })

    test('a decision that is late by less than the sweep is late all the same', async () => {
      const desk = shared()
      const task = await startAction(desk)
      const id = await requestedApprovalId(desk, task.id)
      const due = desk.clock.now() + MINUTES_5
      const clock = vi.spyOn(desk.clock, 'now').mockReturnValue(due)
      const late = await desk.call('POST', `/v1/approvals/${id}/approve`, {})
      clock.mockRestore()
      expect(late).toMatchObject({ status: 409, body: { error: 'approval already decided (expired)' } })
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
      expect(callsFor(desk, id)).toHaveLength(0)
    })

    test('the time that a run waits for a person does not count as its own', async () => {
      const desk = shared()
      const task = await startAction(desk, {}, { constraints: { max_runtime_s: 5 } })
      const id = await requestedApprovalId(desk, task.id)
      await desk.clock.advance(200_000)
      await desk.call('POST', `/v1/approvals/${id}/approve`, {})
      expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded' })
    })

    test('any replica expires what is due in the store, each once', async () => {
      const desk = shared()
      const { taskId, approvalId } = await askedElsewhere(desk)
      await Promise.all([expireDueApprovals(desk.ctx), expireDueApprovals(desk.ctx), expireDueApprovals(desk.ctx)])
      expect((await desk.call('GET', `/v1/approvals/${approvalId}`)).body.status).toBe('expired')
      expect((await desk.call('GET', `/v1/tasks/${taskId}`)).body).toMatchObject({ status: 'expired' })
      const finished = (await desk.events(taskId)).filter(({ event }) => event === 'task.finished')
      expect(finished).toHaveLength(1)
    })
  })

  describe('the deployment sets another time', () => {
    const shared = sharedGatedApp(store, { env: { SVC_APPROVAL_TTL_S: '20' } })

    test('a request cannot', async () => {
      const desk = shared()
      const task = await startAction(desk, {}, { constraints: { approval_ttl_s: 9999 } })
      const id = await requestedApprovalId(desk, task.id)
      const { created_at, expires_at } = (await desk.call('GET', `/v1/approvals/${id}`)).body
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(20_000)
      await desk.clock.advance(20_000)
      expect(await advanceUntilSettled(desk, desk.finished(task.id))).toMatchObject({ status: 'expired' })
    })
  })
})

/** A run of another replica that still beats, and its question, asked longer ago than anybody has time. */
async function askedElsewhere(desk: GatedApp): Promise<{ taskId: string; approvalId: string }> {
  const task = await startAction(desk)
  const approvalId = await requestedApprovalId(desk, task.id)
  await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
  const taskId = desk.ctx.world.newId('task')
  const id = desk.ctx.world.newId('apr')
  const long = toIsoTime(desk.clock.now() - 1)
  await desk.ctx.store.transact(async (db) => {
    const beat = { id: 'rep_other', started_at: long, seen_at: '2099-01-01T00:00:00.000Z' }
    await db.insertInto('replicas').values(beat).execute()
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
