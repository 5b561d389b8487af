import { describe, expect, test } from 'vitest'
import { expireDueApprovals } from '../../src/approvals/lifecycle/expire-approvals.ts'
import { fireDueSchedules } from '../../src/automation/schedules/fire-schedules.ts'
import { eachStore } from '../app.ts'
import { requestedApprovalId, sharedGatedApp, startAction, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { expectInvariants } from './invariants.ts'

const HOUR = 3_600_000
const schedule10Minutes = { name: 'often', wedge: 'gate', task_type: 'say', cadence: { kind: 'every', seconds: 600 } }
const WEDGES = {
  ...gatedWedgeFiles('gate', { task_types: { act: {}, say: {} } }),
  'gate/rehearsals/say.json': [{ output: 'said' }],
}

eachStore((store) => {
  describe('the clock of the machine is changed', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    test('one hour back and one hour forward: nothing expires early, logs stay in order, and a due time fires once', async () => {
      const app = shared()
      const startedAt = app.clock.now()
      const { body: schedule } = await app.call('POST', '/v1/schedules', schedule10Minutes)
      const [first, second] = [await startAction(app), await startAction(app)]
      const approvals = [await requestedApprovalId(app, first.id), await requestedApprovalId(app, second.id)]
      const sweep = () =>
        Promise.all([expireDueApprovals(app.ctx), fireDueSchedules(app.ctx), fireDueSchedules(app.ctx)])
      const scheduledTasks = async () =>
        (await app.call('GET', '/v1/tasks?limit=200')).body.data.filter(
          (task: { schedule_id: string | null }) => task.schedule_id === schedule.id,
        )

      app.clock.set(startedAt - HOUR)
      await sweep()
      expect((await app.call('GET', '/v1/approvals?status=pending')).body.data).toHaveLength(2)
      expect((await app.call('POST', `/v1/approvals/${approvals[0]}/approve`, {})).status).toBe(200)
      expect(await app.finished(first.id)).toMatchObject({ status: 'succeeded' })
      expect(await scheduledTasks()).toEqual([])

      app.clock.set(startedAt + HOUR)
      await sweep()
      await sweep()
      expect(await app.finished(second.id)).toMatchObject({ status: 'expired' })
      expect(await scheduledTasks()).toHaveLength(1)

      app.clock.set(startedAt)
      await sweep()
      expect(await scheduledTasks()).toHaveLength(1)
      const later = await startAction(app)
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, later.id)}/approve`, {})
      await expectInvariants(app, app.ctx.db, {
        tasks: [first.id, second.id, later.id],
        decisions: [
          [approvals[0] ?? '', 'approved'],
          [approvals[1] ?? '', 'expired'],
        ],
        received: app.outside.received,
      })
    })
  })
})
