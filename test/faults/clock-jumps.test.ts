import { describe, expect, test } from 'vitest'
import { expireDueApprovals } from '../../src/lifecycle/expire-approvals.ts'
import { fireDueSchedules } from '../../src/schedules/fire-schedules.ts'
import { eachStore } from '../app.ts'
import { requestedApprovalId, sharedGatedApp, startAction, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { expectInvariants } from './invariants.ts'

const HOUR = 3_600_000
const every = { name: 'often', wedge: 'gate', task_type: 'say', cadence: { kind: 'every', seconds: 600 } }
const WEDGES = {
  ...gatedWedgeFiles('gate', { task_types: { act: {}, say: {} } }),
  'gate/rehearsals/say.json': [{ output: 'said' }],
}

eachStore((store) => {
  describe('the clock is set', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    test('an hour back, and an hour forward again: nothing expires early, logs stay in order, a due time fires once', async () => {
      const desk = shared()
      const began = desk.clock.now()
      const { body: schedule } = await desk.call('POST', '/v1/schedules', every)
      const [first, second] = [await startAction(desk), await startAction(desk)]
      const approvals = [await requestedApprovalId(desk, first.id), await requestedApprovalId(desk, second.id)]
      const sweep = () =>
        Promise.all([expireDueApprovals(desk.ctx), fireDueSchedules(desk.ctx), fireDueSchedules(desk.ctx)])
      const firedBy = async () =>
        (await desk.call('GET', '/v1/tasks?limit=200')).body.data.filter(
          (task: { schedule_id: string | null }) => task.schedule_id === schedule.id,
        )

      desk.clock.set(began - HOUR)
      await sweep()
      expect((await desk.call('GET', '/v1/approvals?status=pending')).body.data).toHaveLength(2)
      expect((await desk.call('POST', `/v1/approvals/${approvals[0]}/approve`, {})).status).toBe(200)
      expect(await desk.finished(first.id)).toMatchObject({ status: 'succeeded' })
      expect(await firedBy()).toEqual([])

      desk.clock.set(began + HOUR)
      await sweep()
      await sweep()
      expect(await desk.finished(second.id)).toMatchObject({ status: 'expired' })
      expect(await firedBy()).toHaveLength(1)

      desk.clock.set(began)
      await sweep()
      expect(await firedBy()).toHaveLength(1)
      const later = await startAction(desk)
      await desk.call('POST', `/v1/approvals/${await requestedApprovalId(desk, later.id)}/approve`, {})
      await expectInvariants(desk, desk.ctx.db, {
        tasks: [first.id, second.id, later.id],
        decisions: [
          [approvals[0] ?? '', 'approved'],
          [approvals[1] ?? '', 'expired'],
        ],
        received: desk.outside.received,
      })
    })
  })
})
