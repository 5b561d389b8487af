import type { ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../src/server/app.ts'
import { expireDueApprovals } from '../../src/approvals/lifecycle/expire-approvals.ts'
import { toIsoTime } from '../../src/platform/ctx/world.ts'
import { heartbeatIntervalMs } from '../../src/execution/runs/replicas/replica-lease.ts'
import { writeFiles } from '../app.ts'
import {
  requestedApprovalId,
  callsFor,
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
  stopReplica,
  gatedWedgeFiles,
} from '../approvals/decisions/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { callApi } from '../http.ts'
import { eventually, waitForEvent } from '../execution/runs/scripted-agent.ts'
import { openTableLock } from './table-lock.ts'
import { SCRIPTED_AGENT_FILES, createScriptedTask } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { attemptNumbers } from './rounds.ts'
import { onlyInMatrix } from '../matrix.ts'

const WEDGES = gatedWedgeFiles('gate', {
  policy: { auto_approve: [{ action: 'ping' }, { action: 'daily', max_per_day: 10 }] },
})
/** Shorter than a lease, because the test moves the clock of all replicas by this time at once. */
const TTL_S = 5

const agentDir = mkdtempSync(join(tmpdir(), 'svc-agent-'))
writeFiles(agentDir, SCRIPTED_AGENT_FILES)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

/** Starts one more replica of the deployment. With 0 run slots it only serves requests. */
const startReplica = (app: GatedApp, slots = 8): Promise<App> =>
  startApp({ ...app.ctx.config, maxConcurrentTasks: slots }, app.ctx.world)

/** Whether the last heartbeat is at most one interval old. */
async function hasRecentHeartbeat({ ctx, clock }: GatedApp): Promise<boolean> {
  const { seen_at } = await ctx.db
    .selectFrom('replicas')
    .select('seen_at')
    .where('id', '=', ctx.replica)
    .executeTakeFirstOrThrow()
  return seen_at >= toIsoTime(clock.now() - heartbeatIntervalMs(ctx))
}

async function joinReplica(app: GatedApp, slots?: number): Promise<App> {
  const replica = await startReplica(app, slots)
  onTestFinished(() => advanceUntilSettled(app, replica.stop()))
  return replica
}

describe('three replicas on one PostgreSQL', () => {
  const shared = sharedGatedApp('postgres', { wedges: WEDGES, env: { SVC_APPROVAL_TTL_S: String(TTL_S) } })

  onlyInMatrix(() => {
    test('fifty concurrent actions with a daily cap of 10: exactly 10 are auto-approved, and none more after a restart', async () => {
      const app = shared()
      const stopping = await startReplica(app)
      await joinReplica(app)
      const approvalStatus = async () => {
        const task = await startAction(app, { action: 'daily' })
        await app.events(task.id, { until: ({ event }) => event.startsWith('approval.') })
        const [row] = (await app.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data
        if (row.status === 'pending') await app.call('POST', `/v1/tasks/${task.id}/cancel`)
        return row.status
      }
      const statuses = await Promise.all(Array.from({ length: 50 }, approvalStatus))
      expect(statuses.filter((status) => status === 'auto_approved')).toHaveLength(10)
      await stopReplica(app, stopping)
      await joinReplica(app)
      expect(await Promise.all([1, 2, 3].map(approvalStatus))).toEqual(['pending', 'pending', 'pending'])
    })
  })

  test('a decision at the moment of expiry: the approval is either decided or expired, and its task matches', async () => {
    const app = shared()
    const [second, third] = [await joinReplica(app, 0), await joinReplica(app, 0)]
    for (const n of attemptNumbers(8)) {
      const task = await startAction(app, { payload: { n } })
      const id = await requestedApprovalId(app, task.id)
      app.clock.jump(TTL_S * 1000 - 1)
      const approving = callApi(second.url, app.key, 'POST', `/v1/approvals/${id}/approve`, {})
      // A decision takes up to about 100 ms, so the approval expires before, during or after it.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
      app.clock.jump(1)
      const [decision] = await Promise.all([approving, ...[app.ctx, second.ctx, third.ctx].map(expireDueApprovals)])
      const { body: approval } = await app.call('GET', `/v1/approvals/${id}`)
      expect([decision.status, approval.status]).toEqual(decision.status === 200 ? [200, 'approved'] : [409, 'expired'])
      const ended = await app.finished(task.id)
      expect(ended.status).toBe(decision.status === 200 ? 'succeeded' : 'expired')
      expect(callsFor(app, id)).toHaveLength(decision.status === 200 ? 1 : 0)
    }
    await expectInvariants(app, app.ctx.db, { received: app.outside.received })
  })
})

describe('two replicas on one PostgreSQL', () => {
  const env = { SVC_AGENT_COMMAND: 'exec node agent.mjs', SVC_AGENT_DIR: agentDir, SVC_MAX_CONCURRENT_TASKS: '3' }
  const shared = sharedGatedApp('postgres', { wedges: WEDGES, env })

  /** Creates a task in each state that can be cancelled. All but the waiting one occupy a run slot. */
  async function createTaskInEveryState(app: GatedApp) {
    const unanswered = new Promise<ServerResponse>((resolve) => {
      app.outside.respond = (_request, upstreamResponse) => resolve(upstreamResponse)
    })
    const acting = await createScriptedTask(app, [{ act: 'ping' }, { output: 'sent' }])
    const upstreamResponse = await unanswered
    const waiting = await createScriptedTask(app, [{ act: 'send_note' }])
    await requestedApprovalId(app, waiting)
    const running = await createScriptedTask(app, [{ event: 'progress', data: { text: 'on' } }, 'hang'])
    await waitForEvent(app, running, 'progress')
    const { hold, waitForBlocked, release } = await openTableLock(app.ctx.config.databaseUrl ?? '')
    await hold('knowledge', 'access exclusive')
    const provisioning = await createScriptedTask(app, ['hang'])
    await waitForBlocked(1)
    const queued = await createScriptedTask(app, ['hang'])
    return { ids: { queued, provisioning, running, acting, waiting }, release, upstreamResponse }
  }

  test('a replica cancels a task of another replica in every state, and the run ends there', async () => {
    const app = shared()
    const other = await joinReplica(app, 0)
    const { ids, release, upstreamResponse } = await createTaskInEveryState(app)
    const cancel = (id: string) => callApi(other.url, app.key, 'POST', `/v1/tasks/${id}/cancel`)
    for (const [state, id] of Object.entries(ids)) {
      const { status, body } = await cancel(id)
      expect([state, status, body.status]).toEqual([state, 200, state === 'waiting' ? 'rejected' : 'cancelled'])
      expect((await cancel(id)).status).toBe(409)
    }
    respondJson(upstreamResponse, 200, { done: true })
    await release()
    await eventually(() => app.ctx.liveRuns.all().length === 0)
    await eventually(
      async () => (await app.call('GET', `/v1/tasks/${ids.acting}/actions`)).body.data[0].outcome === 'ok',
    )
    await expectInvariants(app, app.ctx.db, { tasks: Object.values(ids), received: app.outside.received })
  })

  test('a replica that starts next to others does not touch their running tasks', async () => {
    const app = shared()
    const running = await Promise.all(
      [1, 2, 3].map(() => createScriptedTask(app, [{ event: 'progress', data: { text: 'on' } }, 'hang'])),
    )
    for (const id of running) await waitForEvent(app, id, 'progress')
    const others = [await joinReplica(app), await joinReplica(app)]
    // 15 s is longer than a lease. Each step waits until the lease is renewed.
    for (let s = 0; s < 15; s++) {
      await app.clock.advance(heartbeatIntervalMs(app.ctx))
      await eventually(() => hasRecentHeartbeat(app))
    }
    for (const id of running) expect((await app.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
    expect(others.flatMap(({ ctx }) => ctx.liveRuns.all())).toEqual([])
    for (const id of running) await app.call('POST', `/v1/tasks/${id}/cancel`)
    await expectInvariants(app, app.ctx.db, { tasks: running })
  })
})
