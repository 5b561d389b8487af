import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { expireDueApprovals } from '../../src/lifecycle/expire-approvals.ts'
import { toIsoTime } from '../../src/ctx/world.ts'
import { eachStore, writeFiles } from '../app.ts'
import {
  requestedApprovalId,
  CALLER_AGENT,
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
} from '../approvals/gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

const ENV = { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir }

eachStore((store) => {
  const shared = sharedGatedApp(store, { env: ENV })

  /** A run with two open questions. */
  async function asking(desk: GatedApp, more: object = {}) {
    const calls = ['a', 'b'].map((n) => ({ path: `actions/${n}`, body: { connection: 'crm', payload: { n } } }))
    const task = await desk.createTask({ wedge: 'gate', task_type: 'act', input: { together: true, calls }, ...more })
    return {
      taskId: task.id,
      first: await requestedApprovalId(desk, task.id),
      second: await requestedApprovalId(desk, task.id, 2),
    }
  }

  const statusOf = async (desk: GatedApp, id: string) => (await desk.call('GET', `/v1/approvals/${id}`)).body.status

  const auditOf = async (desk: GatedApp, id: string) =>
    (await desk.call('GET', '/v1/audit?limit=200')).body.data
      .filter(({ subject }: { subject: string }) => subject === id)
      .map(({ action, actor }: { action: string; actor: { kind: string } }) => `${action} by ${actor.kind}`)

  async function decisionsOf(desk: GatedApp, taskId: string) {
    const events = await desk.events(taskId)
    expect(events.at(-1)?.event).toBe('task.finished')
    return Object.fromEntries(
      events
        .filter(({ event }) => event === 'approval.resolved')
        .map(({ data: { data } }) => [data.approval_id, `${data.decision} by ${data.decided_by.kind}`]),
    )
  }

  test('a rejection settles what else the task asks, each with its event and its audit entry', async () => {
    const desk = shared()
    const { taskId, first, second } = await asking(desk)
    await desk.call('POST', `/v1/approvals/${first}/reject`, {})
    expect(await statusOf(desk, second)).toBe('rejected')
    expect(await decisionsOf(desk, taskId)).toEqual({ [first]: 'rejected by key', [second]: 'rejected by system' })
    expect(await auditOf(desk, first)).toEqual(['approval.rejected by key'])
    expect(await auditOf(desk, second)).toEqual(['approval.rejected by system'])
  })

  test('a cancel rejects all that waits, each with its event and its audit entry', async () => {
    const desk = shared()
    const { taskId, first, second } = await asking(desk)
    await desk.call('POST', `/v1/tasks/${taskId}/cancel`)
    expect(await decisionsOf(desk, taskId)).toEqual({ [first]: 'rejected by key', [second]: 'rejected by key' })
    for (const id of [first, second]) expect(await auditOf(desk, id)).toEqual(['approval.rejected by key'])
  })

  test('when nobody answers in time each expires with an audit entry, and the log says it by its end', async () => {
    const desk = shared()
    const { taskId, first, second } = await asking(desk)
    await desk.clock.advance(300_000)
    expect(await advanceUntilSettled(desk, desk.finished(taskId))).toMatchObject({ status: 'expired' })
    expect(await decisionsOf(desk, taskId)).toEqual({})
    for (const id of [first, second]) {
      expect(await statusOf(desk, id)).toBe('expired')
      expect(await auditOf(desk, id)).toEqual(['approval.expired by system'])
    }
  })

  test('an approval that is given while the sweep looks is kept, and its sibling goes on to wait', async () => {
    const desk = shared()
    const { taskId, first, second } = await asking(desk)
    const soon = toIsoTime(desk.clock.now() + 1_000)
    await desk.ctx.store.transact((db) =>
      db.updateTable('approvals').set({ expires_at: soon }).where('id', '=', first).execute(),
    )
    // The sweep of another replica, whose look comes back before the decision and whose work comes after it.
    const { store: own } = desk.ctx
    let approving: Promise<{ status: number }> | undefined
    const late = {
      ...own,
      transact: (async (work) => {
        approving ??= desk.call('POST', `/v1/approvals/${first}/approve`, {})
        await approving
        return own.transact(work)
      }) as typeof own.transact,
    }
    const clock = { ...desk.ctx.world.clock, now: () => Date.parse(soon) }
    await expireDueApprovals({ ...desk.ctx, store: late, world: { ...desk.ctx.world, clock } })
    expect((await approving)?.status).toBe(200)
    expect([await statusOf(desk, first), await statusOf(desk, second)]).toEqual(['approved', 'pending'])
    expect((await desk.call('GET', `/v1/tasks/${taskId}`)).body.status).toBe('awaiting_approval')
    await desk.call('POST', `/v1/tasks/${taskId}/cancel`)
  })
})
