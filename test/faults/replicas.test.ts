import type { ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import { expireDueApprovals } from '../../src/lifecycle/expire-approvals.ts'
import { toIsoTime } from '../../src/ctx/world.ts'
import { HEARTBEAT_INTERVAL_MS } from '../../src/runs/replica-lease.ts'
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
} from '../approvals/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { callApi } from '../http.ts'
import { eventually, waitForEvent } from '../runs/scripted-agent.ts'
import { openTableLock } from './table-lock.ts'
import { SCRIPTED_AGENT_FILES, createScriptedTask } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { attemptNumbers } from './rounds.ts'

const WEDGES = gatedWedgeFiles('gate', {
  policy: { auto_approve: [{ action: 'ping' }, { action: 'daily', max_per_day: 10 }] },
})
/** Shorter than a lease: the clock of all three leaps over it. */
const TTL_S = 5

const agentDir = mkdtempSync(join(tmpdir(), 'svc-doing-'))
writeFiles(agentDir, SCRIPTED_AGENT_FILES)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

/** One more replica of the deployment; without places it only serves. */
const another = (desk: GatedApp, places = 8): Promise<App> =>
  startApp({ ...desk.ctx.config, maxConcurrentTasks: places }, desk.ctx.world)

/** Its last beat is at most one behind the clock: one may have been under way when the time for the next came. */
async function hasBeaten({ ctx, clock }: GatedApp): Promise<boolean> {
  const { seen_at } = await ctx.db
    .selectFrom('replicas')
    .select('seen_at')
    .where('id', '=', ctx.replica)
    .executeTakeFirstOrThrow()
  return seen_at >= toIsoTime(clock.now() - HEARTBEAT_INTERVAL_MS)
}

async function joined(desk: GatedApp, places?: number): Promise<App> {
  const app = await another(desk, places)
  onTestFinished(() => advanceUntilSettled(desk, app.stop()))
  return app
}

describe('three replicas on one PostgreSQL', () => {
  const shared = sharedGatedApp('postgres', { wedges: WEDGES, env: { SVC_APPROVAL_TTL_S: String(TTL_S) } })

  test('fifty racers get exactly what a day allows, and a restart gives nothing more', async () => {
    const desk = shared()
    const leaving = await another(desk)
    await joined(desk)
    const decided = async () => {
      const task = await startAction(desk, { action: 'daily' })
      await desk.events(task.id, { until: ({ event }) => event.startsWith('approval.') })
      const [row] = (await desk.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data
      if (row.status === 'pending') await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
      return row.status
    }
    const statuses = await Promise.all(Array.from({ length: 50 }, decided))
    expect(statuses.filter((status) => status === 'auto_approved')).toHaveLength(10)
    await stopReplica(desk, leaving)
    await joined(desk)
    expect(await Promise.all([1, 2, 3].map(decided))).toEqual(['pending', 'pending', 'pending'])
  })

  test('at the moment of expiry an approval is decided or expired, never both, and its task agrees', async () => {
    const desk = shared()
    const [second, third] = [await joined(desk, 0), await joined(desk, 0)]
    for (const n of attemptNumbers(8)) {
      const task = await startAction(desk, { payload: { n } })
      const id = await requestedApprovalId(desk, task.id)
      desk.clock.jump(TTL_S * 1000 - 1)
      const approving = callApi(second.url, desk.key, 'POST', `/v1/approvals/${id}/approve`, {})
      // About as long as a decision takes, so that the moment falls before it, into it and after it.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100))
      desk.clock.jump(1)
      const [answer] = await Promise.all([approving, ...[desk.ctx, second.ctx, third.ctx].map(expireDueApprovals)])
      const { body: approval } = await desk.call('GET', `/v1/approvals/${id}`)
      expect([answer.status, approval.status]).toEqual(answer.status === 200 ? [200, 'approved'] : [409, 'expired'])
      const ended = await desk.finished(task.id)
      expect(ended.status).toBe(answer.status === 200 ? 'succeeded' : 'expired')
      expect(callsFor(desk, id)).toHaveLength(answer.status === 200 ? 1 : 0)
    }
    await expectInvariants(desk, desk.ctx.db, { received: desk.outside.received })
  })
})

describe('a replica that others do not run on', () => {
  const env = { SVC_AGENT_COMMAND: 'exec node agent.mjs', SVC_AGENT_DIR: agentDir, SVC_MAX_CONCURRENT_TASKS: '3' }
  const shared = sharedGatedApp('postgres', { wedges: WEDGES, env })

  /** A task in each of the states that it can be cancelled in; all but the waiting one fill a place. */
  async function inEveryState(desk: GatedApp) {
    const answering = new Promise<ServerResponse>((resolve) => {
      desk.outside.respond = (_seen, response) => resolve(response)
    })
    const out = await createScriptedTask(desk, [{ act: 'ping' }, { output: 'sent' }])
    const response = await answering
    const waiting = await createScriptedTask(desk, [{ act: 'send_note' }])
    await requestedApprovalId(desk, waiting)
    const running = await createScriptedTask(desk, [{ event: 'progress', data: { text: 'on' } }, 'hang'])
    await waitForEvent(desk, running, 'progress')
    const { hold, halted, release } = await openTableLock(desk.ctx.config.databaseUrl ?? '')
    await hold('knowledge', 'access exclusive')
    const provisioning = await createScriptedTask(desk, ['hang'])
    await halted(1)
    const queued = await createScriptedTask(desk, ['hang'])
    return { ids: { queued, provisioning, running, out, waiting }, release, response }
  }

  test('cancels a task in every state, and the run is over where it ran', async () => {
    const desk = shared()
    const other = await joined(desk, 0)
    const { ids, release, response } = await inEveryState(desk)
    const there = (id: string) => callApi(other.url, desk.key, 'POST', `/v1/tasks/${id}/cancel`)
    for (const [state, id] of Object.entries(ids)) {
      const { status, body } = await there(id)
      expect([state, status, body.status]).toEqual([state, 200, state === 'waiting' ? 'rejected' : 'cancelled'])
      expect((await there(id)).status).toBe(409)
    }
    respondJson(response, 200, { done: true })
    await release()
    await eventually(() => desk.ctx.liveRuns.all().length === 0)
    await eventually(async () => (await desk.call('GET', `/v1/tasks/${ids.out}/actions`)).body.data[0].outcome === 'ok')
    await expectInvariants(desk, desk.ctx.db, { tasks: Object.values(ids), received: desk.outside.received })
  })

  test('boots beside them and leaves their tasks alone', async () => {
    const desk = shared()
    const running = await Promise.all(
      [1, 2, 3].map(() => createScriptedTask(desk, [{ event: 'progress', data: { text: 'on' } }, 'hang'])),
    )
    for (const id of running) await waitForEvent(desk, id, 'progress')
    const others = [await joined(desk), await joined(desk)]
    // Longer than a lease, in steps that wait until it is renewed.
    for (let s = 0; s < 15; s++) {
      await desk.clock.advance(HEARTBEAT_INTERVAL_MS)
      await eventually(() => hasBeaten(desk))
    }
    for (const id of running) expect((await desk.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
    expect(others.flatMap(({ ctx }) => ctx.liveRuns.all())).toEqual([])
    for (const id of running) await desk.call('POST', `/v1/tasks/${id}/cancel`)
    await expectInvariants(desk, desk.ctx.db, { tasks: running })
  })
})
