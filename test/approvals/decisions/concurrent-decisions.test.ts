import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { eachStore, writeFiles } from '../../app.ts'
import { callApi } from '../../http.ts'
import {
  CALLER_AGENT,
  callsFor,
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
  startReplica,
  stopReplica,
} from './gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))
const CALLER_ENV = { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir }

/** After this time a run looks for a decision without a change hint. */
const POLL_MS = 700

eachStore((store) => {
  describe('concurrent decisions on one approval', () => {
    const shared = sharedGatedApp(store)

    test('one of fifty concurrent decisions wins, and the action is sent at most once', async () => {
      const app = shared()
      for (const round of [1, 2, 3]) {
        const task = await startAction(app, { payload: { round } })
        const id = await requestedApprovalId(app, task.id)
        const responses = await Promise.all(
          Array.from({ length: 50 }, (_, i) => app.call('POST', `/v1/approvals/${id}/${decisionOf(i, round)}`, {})),
        )
        const won = responses.filter(({ status }) => status === 200)
        const refused = responses.filter(({ status }) => status === 409)
        expect([won.length, refused.length]).toEqual([1, 49])
        const decision = won[0]?.body.decision
        for (const { body } of refused) expect(body).toEqual({ error: `approval already decided (${decision})` })
        const ended = await app.finished(task.id)
        expect(ended.status).toBe(decision === 'approved' ? 'succeeded' : 'rejected')
        expect(callsFor(app, id)).toHaveLength(decision === 'approved' ? 1 : 0)
        const resolved = (await app.events(task.id)).filter(({ event }) => event === 'approval.resolved')
        expect(resolved.map(({ data }) => data.data.decision)).toEqual([decision])
      }
    })
  })

  describe('a run that has ended', () => {
    const approvals = [{ action: 'records_put', risk: 'low', required: true }]
    const keep = { call: { tool: 'records_put', input: { collection: 'kept', key: 'k', value: 1 } } }
    const shared = sharedGatedApp(store, {
      wedges: {
        ...gatedWedgeFiles('gate', { approvals, task_types: { keep: {} } }),
        'gate/rehearsals/keep.json': [keep, { output: 'kept' }],
      },
    })
    const records = async (app: GatedApp) => (await app.call('GET', '/v1/records?wedge=gate&collection=kept')).body.data
    const start = (app: GatedApp) => app.createTask({ wedge: 'gate', task_type: 'keep', input: {} })

    test('a cancelled run sends nothing, even if its approval was decided before it noticed', async () => {
      const app = shared()
      const task = await start(app)
      const id = await requestedApprovalId(app, task.id)
      // Wait until the run has looked and found no decision; on PostgreSQL this takes a moment.
      if (store === 'postgres') await expect.poll(() => app.clock.hasTimerIn(POLL_MS)).toBe(true)
      // A decision by another replica whose change hint was lost.
      await app.ctx.store.transact((db) =>
        db.updateTable('approvals').set({ status: 'approved' }).where('id', '=', id).execute(),
      )
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
      await expect.poll(() => app.ctx.liveRuns.all()).toEqual([])
      expect(await records(app)).toEqual([])
    })

    test('a run sends what was approved before it ended', async () => {
      const app = shared()
      const task = await start(app)
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, task.id)}/approve`, {})
      expect((await app.finished(task.id)).status).toBe('succeeded')
      // Version 1: the cancelled run has written nothing.
      expect(await records(app)).toMatchObject([{ key: 'k', value: 1, version: 1 }])
    })
  })

  describe('several approvals of one run', () => {
    const shared = sharedGatedApp(store, { env: CALLER_ENV })

    test('several calls wait at once, and the task waits until the last is decided', async () => {
      const app = shared()
      const { taskId, ids } = await startCalls(app, 4)
      const statusOf = async () => (await app.call('GET', `/v1/tasks/${taskId}`)).body.status
      for (const id of ids.slice(0, -1)) {
        await app.call('POST', `/v1/approvals/${id}/approve`, {})
        expect(await statusOf()).toBe('awaiting_approval')
      }
      await app.call('POST', `/v1/approvals/${ids.at(-1)}/approve`, {})
      const ended = await app.finished(taskId)
      expect(ended).toMatchObject({ status: 'succeeded', error: null })
      for (const id of ids) expect(callsFor(app, id)).toHaveLength(1)
    })

    test('concurrent approvals leave the task running, not waiting', async () => {
      const app = shared()
      for (let round = 0; round < 3; round++) {
        const { taskId, ids } = await startCalls(app, 16)
        const all = await Promise.all(ids.map((id) => app.call('POST', `/v1/approvals/${id}/approve`, {})))
        expect(all.map(({ status }) => status)).toEqual(ids.map(() => 200))
        const ended = await app.finished(taskId)
        expect(ended).toMatchObject({ status: 'succeeded', error: null })
        const events = (await app.events(taskId)).map(({ id }) => Number(id))
        expect(events).toEqual(events.map((_, i) => i + 1))
        const actions = (await app.call('GET', `/v1/tasks/${taskId}/actions`)).body.data
        expect(actions.map(({ outcome }: { outcome: string }) => outcome)).toEqual(ids.map(() => 'ok'))
      }
    })

    test('one rejection ends the run, and undecided actions are not sent', async () => {
      const app = shared()
      const { taskId, ids } = await startCalls(app, 8)
      const responses = await Promise.all(
        ids.map((id, i) => app.call('POST', `/v1/approvals/${id}/${i === 4 ? 'reject' : 'approve'}`, {})),
      )
      expect(responses[4]?.status).toBe(200)
      expect((await app.finished(taskId)).status).toBe('rejected')
      const rows = (await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data
      for (const row of rows) {
        expect(row.status).not.toBe('pending')
        const sent = callsFor(app, row.approval_id).length
        expect(sent).toBeLessThanOrEqual(row.status === 'approved' ? 1 : 0)
      }
    })
  })

  if (store !== 'postgres') return
  describe('two replicas', () => {
    const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate') })

    test('a decision on another replica resumes the run, and a cancel there ends it', async () => {
      const app = shared()
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const other = await startReplica(app)
      onTestFinished(() => stopReplica(app, other))
      const postToOther = (path: string, body: object = {}) => callApi(other.url, app.key, 'POST', path, body)
      expect(
        (await postToOther(`/v1/approvals/${id}/approve`, { edited: { text: 'from another replica' } })).status,
      ).toBe(200)
      expect((await app.finished(task.id)).status).toBe('succeeded')
      expect(callsFor(app, id).map(({ body }) => body)).toEqual(['{"text":"from another replica"}'])
      const next = await startAction(app)
      const second = await requestedApprovalId(app, next.id)
      expect((await postToOther(`/v1/tasks/${next.id}/cancel`)).body.status).toBe('rejected')
      expect((await app.finished(next.id)).status).toBe('rejected')
      expect(callsFor(app, second)).toHaveLength(0)
    })

    test('one of fifty concurrent decisions on two replicas wins', async () => {
      const app = shared()
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const other = await startReplica(app)
      onTestFinished(() => stopReplica(app, other))
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          callApi(i % 2 ? other.url : app.url, app.key, 'POST', `/v1/approvals/${id}/approve`, {}),
        ),
      )
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
      expect((await app.finished(task.id)).status).toBe('succeeded')
      expect(callsFor(app, id)).toHaveLength(1)
    })
  })
})

/** One round only approves, one only rejects, one mixes both. */
const decisionOf = (i: number, round: number) => (round === 1 || (round === 3 && i % 2 === 0) ? 'approve' : 'reject')

/** Starts a run that makes several gated calls at once, and returns when all of them wait. */
async function startCalls(app: GatedApp, count: number): Promise<{ taskId: string; ids: string[] }> {
  const calls = Array.from({ length: count }, (_, n) => ({
    path: 'actions/send_note',
    body: { connection: 'crm', payload: { n } },
  }))
  const { id: taskId } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { together: true, calls } })
  await requestedApprovalId(app, taskId, count)
  const { data } = (await app.call('GET', `/v1/approvals?task_id=${taskId}&limit=200`)).body
  return { taskId, ids: data.map(({ approval_id }: { approval_id: string }) => approval_id) }
}
