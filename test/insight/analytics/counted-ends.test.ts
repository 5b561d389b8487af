import { expect, test } from 'vitest'
import { eachStore } from '../../app.ts'
import {
  advanceUntilSettled,
  gatedWedgeFiles,
  openGatedApp,
  requestedApprovalId,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { expectExactReport } from './expected-report.ts'

const POLICY = { auto_approve: [{ action: 'note' }] }

eachStore((store) => {
  test('analytics counts every way in which a task ends and an approval is decided, at once', async () => {
    const app = await openGatedApp(store, gatedWedgeFiles('gate', { policy: POLICY }))
    const client = (await app.call('POST', '/v1/clients', { name: 'Ada' })).body.id
    const wait = async () => {
      const task = await startAction(app, {}, { client_id: client })
      return { task: task.id, path: `/v1/approvals/${await requestedApprovalId(app, task.id)}` }
    }
    const expectCounted = async (sums: object) => {
      await expectExactReport((method, path) => app.call(method, path), app.ctx.db)
      expect((await app.call('GET', '/v1/analytics?days=1')).body).toMatchObject(sums)
    }

    const approved = await wait()
    await expectCounted({ runs: 1, approvals: { pending: 1 } })
    await app.call('POST', `${approved.path}/approve`, {})
    await app.finished(approved.task)
    await expectCounted({ succeeded: 1, approvals: { pending: 0, approved: 1 } })

    const rejected = await wait()
    await app.call('POST', `${rejected.path}/reject`, { reason: 'no' })
    await expectCounted({ rejected: 1, approvals: { rejected: 1 } })

    const revised = await wait()
    await app.call('POST', `${revised.path}/revise`, { note: 'shorter' })
    await app.finished(revised.task)
    await expectCounted({ approvals: { rejected: 2 } })

    const cancelled = await wait()
    await app.call('POST', `/v1/tasks/${cancelled.task}/cancel`)
    await expectCounted({ rejected: 2, approvals: { rejected: 3 } })

    const automatic = await startAction(app, { action: 'note' })
    await app.finished(automatic.id)
    await expectCounted({ approvals: { auto_approved: 1 } })

    const expired = await wait()
    await advanceUntilSettled(app, app.finished(expired.task))
    await expectCounted({ expired: 1, approvals: { pending: 0, expired: 1, requested: 6 } })

    const failed = await startAction(app, { action: 'note' }, { output_schema: { type: 'number' } })
    expect((await app.finished(failed.id)).status).toBe('failed')
    await expectCounted({ failed: 1, runs: 7, by_client: [{ client_id: client, runs: 5 }] })
    await app.stop()
    await app.outside.close()
  })
})
