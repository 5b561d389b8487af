import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { expireDueApprovals } from '../../../src/approvals/lifecycle/expire-approvals.ts'
import { eachStore, writeFiles } from '../../app.ts'
import {
  advanceUntilSettled,
  CALLER_AGENT,
  type GatedApp,
  requestedApprovalId,
  sharedGatedApp,
} from '../decisions/gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

const ENV = { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir }

eachStore((store) => {
  const shared = sharedGatedApp(store, { env: ENV })

  /** A run with two pending approvals. */
  async function startTwoApprovals(app: GatedApp, more: object = {}) {
    const calls = ['a', 'b'].map((n) => ({ path: `actions/${n}`, body: { connection: 'crm', payload: { n } } }))
    const task = await app.createTask({ wedge: 'gate', task_type: 'act', input: { together: true, calls }, ...more })
    return {
      taskId: task.id,
      first: await requestedApprovalId(app, task.id),
      second: await requestedApprovalId(app, task.id, 2),
    }
  }

  const statusOf = async (app: GatedApp, id: string) => (await app.call('GET', `/v1/approvals/${id}`)).body.status

  const auditOf = async (app: GatedApp, id: string) =>
    (await app.call('GET', '/v1/audit?limit=200')).body.data
      .filter(({ subject }: { subject: string }) => subject === id)
      .map(({ action, actor }: { action: string; actor: { kind: string } }) => `${action} by ${actor.kind}`)

  async function decisionsOf(app: GatedApp, taskId: string) {
    const events = await app.events(taskId)
    expect(events.at(-1)?.event).toBe('task.finished')
    return Object.fromEntries(
      events
        .filter(({ event }) => event === 'approval.resolved')
        .map(({ data: { data } }) => [data.approval_id, `${data.decision} by ${data.decided_by.kind}`]),
    )
  }

  test('a rejection closes the other pending approvals of the task, each with an event and an audit entry', async () => {
    const app = shared()
    const { taskId, first, second } = await startTwoApprovals(app)
    await app.call('POST', `/v1/approvals/${first}/reject`, {})
    expect(await statusOf(app, second)).toBe('rejected')
    expect(await decisionsOf(app, taskId)).toEqual({ [first]: 'rejected by key', [second]: 'rejected by system' })
    expect(await auditOf(app, first)).toEqual(['approval.rejected by key'])
    expect(await auditOf(app, second)).toEqual(['approval.rejected by system'])
  })

  test('a cancel rejects all pending approvals of the task, each with an event and an audit entry', async () => {
    const app = shared()
    const { taskId, first, second } = await startTwoApprovals(app)
    await app.call('POST', `/v1/tasks/${taskId}/cancel`)
    expect(await decisionsOf(app, taskId)).toEqual({ [first]: 'rejected by key', [second]: 'rejected by key' })
    for (const id of [first, second]) expect(await auditOf(app, id)).toEqual(['approval.rejected by key'])
  })

  test('without a decision all approvals of the task expire with an audit entry, and the log has only task.finished', async () => {
    const app = shared()
    const { taskId, first, second } = await startTwoApprovals(app)
    await app.clock.advance(300_000)
    expect(await advanceUntilSettled(app, app.finished(taskId))).toMatchObject({ status: 'expired' })
    expect(await decisionsOf(app, taskId)).toEqual({})
    for (const id of [first, second]) {
      expect(await statusOf(app, id)).toBe('expired')
      expect(await auditOf(app, id)).toEqual(['approval.expired by system'])
    }
  })

  test('an approval that is decided during the sweep keeps its decision, and the other one stays pending', async () => {
    const app = shared()
    const { taskId, first, second } = await startTwoApprovals(app)
    const expiry = toIsoTime(app.clock.now() + 1_000)
    await app.ctx.store.transact((db) =>
      db.updateTable('approvals').set({ expires_at: expiry }).where('id', '=', first).execute(),
    )
    // The sweep of another replica lists the due approvals before the decision and expires them after it.
    const { store: own } = app.ctx
    let approving: Promise<{ status: number }> | undefined
    const slowStore = {
      ...own,
      transact: (async (work) => {
        approving ??= app.call('POST', `/v1/approvals/${first}/approve`, {})
        await approving
        return own.transact(work)
      }) as typeof own.transact,
    }
    const clock = { ...app.ctx.world.clock, now: () => Date.parse(expiry) }
    await expireDueApprovals({ ...app.ctx, store: slowStore, world: { ...app.ctx.world, clock } })
    expect((await approving)?.status).toBe(200)
    expect([await statusOf(app, first), await statusOf(app, second)]).toEqual(['approved', 'pending'])
    expect((await app.call('GET', `/v1/tasks/${taskId}`)).body.status).toBe('awaiting_approval')
    await app.call('POST', `/v1/tasks/${taskId}/cancel`)
  })
})
