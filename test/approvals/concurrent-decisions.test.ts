import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { eachStore, writeFiles } from '../app.ts'
import { callApi } from '../http.ts'
import {
  requestedApprovalId,
  CALLER_AGENT,
  callsFor,
  type GatedApp,
  sharedGatedApp,
  startReplica,
  startAction,
  stopReplica,
  gatedWedgeFiles,
} from './gated-app.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))
const CALLER_ENV = { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir }

/** How long a run trusts the bell. */
const POLL_MS = 700

eachStore((store) => {
  describe('one approval', () => {
    const shared = sharedGatedApp(store)

    test('of fifty simultaneous decisions one wins, and the action runs at most once', async () => {
      const desk = shared()
      for (const round of [1, 2, 3]) {
        const task = await startAction(desk, { payload: { round } })
        const id = await requestedApprovalId(desk, task.id)
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, i) => desk.call('POST', `/v1/approvals/${id}/${decisionOf(i, round)}`, {})),
        )
        const won = answers.filter(({ status }) => status === 200)
        const lost = answers.filter(({ status }) => status === 409)
        expect([won.length, lost.length]).toEqual([1, 49])
        const decision = won[0]?.body.decision
        for (const { body } of lost) expect(body).toEqual({ error: `approval already decided (${decision})` })
        const ended = await desk.finished(task.id)
        expect(ended.status).toBe(decision === 'approved' ? 'succeeded' : 'rejected')
        expect(callsFor(desk, id)).toHaveLength(decision === 'approved' ? 1 : 0)
        const resolved = (await desk.events(task.id)).filter(({ event }) => event === 'approval.resolved')
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
    const records = async (desk: GatedApp) =>
      (await desk.call('GET', '/v1/records?wedge=gate&collection=kept')).body.data
    const start = (desk: GatedApp) => desk.createTask({ wedge: 'gate', task_type: 'keep', input: {} })

    test('does nothing more behind the gate, although its question was approved and it had not heard', async () => {
      const desk = shared()
      const task = await start(desk)
      const id = await requestedApprovalId(desk, task.id)
      // The run has looked, found nothing and waits: on PostgreSQL that takes it a moment.
      if (store === 'postgres') await expect.poll(() => desk.clock.hasTimerIn(POLL_MS)).toBe(true)
      // As by another replica whose bell was lost.
      await desk.ctx.store.transact((db) =>
        db.updateTable('approvals').set({ status: 'approved' }).where('id', '=', id).execute(),
      )
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
      await expect.poll(() => desk.ctx.liveRuns.all()).toEqual([])
      expect(await records(desk)).toEqual([])
    })

    test('did what was approved while it lived', async () => {
      const desk = shared()
      const task = await start(desk)
      await desk.call('POST', `/v1/approvals/${await requestedApprovalId(desk, task.id)}/approve`, {})
      expect((await desk.finished(task.id)).status).toBe('succeeded')
      // The first version: nothing came late of the run before.
      expect(await records(desk)).toMatchObject([{ key: 'k', value: 1, version: 1 }])
    })
  })

  describe('one run', () => {
    const shared = sharedGatedApp(store, { env: CALLER_ENV })

    test('several calls wait at once, and the task waits until the last is answered', async () => {
      const desk = shared()
      const { taskId, ids } = await startCalls(desk, 4)
      const statusOf = async () => (await desk.call('GET', `/v1/tasks/${taskId}`)).body.status
      for (const id of ids.slice(0, -1)) {
        await desk.call('POST', `/v1/approvals/${id}/approve`, {})
        expect(await statusOf()).toBe('awaiting_approval')
      }
      await desk.call('POST', `/v1/approvals/${ids.at(-1)}/approve`, {})
      const ended = await desk.finished(taskId)
      expect(ended).toMatchObject({ status: 'succeeded', error: null })
      for (const id of ids) expect(callsFor(desk, id)).toHaveLength(1)
    })

    test('answers that come at the same moment leave no run waiting for nothing', async () => {
      const desk = shared()
      for (let round = 0; round < 3; round++) {
        const { taskId, ids } = await startCalls(desk, 16)
        const all = await Promise.all(ids.map((id) => desk.call('POST', `/v1/approvals/${id}/approve`, {})))
        expect(all.map(({ status }) => status)).toEqual(ids.map(() => 200))
        const ended = await desk.finished(taskId)
        expect(ended).toMatchObject({ status: 'succeeded', error: null })
        const events = (await desk.events(taskId)).map(({ id }) => Number(id))
        expect(events).toEqual(events.map((_, i) => i + 1))
        const actions = (await desk.call('GET', `/v1/tasks/${taskId}/actions`)).body.data
        expect(actions.map(({ outcome }: { outcome: string }) => outcome)).toEqual(ids.map(() => 'ok'))
      }
    })

    test('a rejection among approvals ends the run, and nothing undecided leaves', async () => {
      const desk = shared()
      const { taskId, ids } = await startCalls(desk, 8)
      const answers = await Promise.all(
        ids.map((id, i) => desk.call('POST', `/v1/approvals/${id}/${i === 4 ? 'reject' : 'approve'}`, {})),
      )
      expect(answers[4]?.status).toBe(200)
      expect((await desk.finished(taskId)).status).toBe('rejected')
      const rows = (await desk.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data
      for (const row of rows) {
        expect(row.status).not.toBe('pending')
        const sent = callsFor(desk, row.approval_id).length
        expect(sent).toBeLessThanOrEqual(row.status === 'approved' ? 1 : 0)
      }
    })
  })

  if (store !== 'postgres') return
  describe('two replicas', () => {
    const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate') })

    test('a decision on the other replica frees the run, a cancel there ends it', async () => {
      const desk = shared()
      const task = await startAction(desk)
      const id = await requestedApprovalId(desk, task.id)
      const other = await startReplica(desk)
      onTestFinished(() => stopReplica(desk, other))
      const there = (path: string, body: object = {}) => callApi(other.url, desk.key, 'POST', path, body)
      expect((await there(`/v1/approvals/${id}/approve`, { edited: { text: 'from afar' } })).status).toBe(200)
      expect((await desk.finished(task.id)).status).toBe('succeeded')
      expect(callsFor(desk, id).map(({ body }) => body)).toEqual(['{"text":"from afar"}'])
      const next = await startAction(desk)
      const second = await requestedApprovalId(desk, next.id)
      expect((await there(`/v1/tasks/${next.id}/cancel`)).body.status).toBe('rejected')
      expect((await desk.finished(next.id)).status).toBe('rejected')
      expect(callsFor(desk, second)).toHaveLength(0)
    })

    test('of fifty decisions on two replicas one wins', async () => {
      const desk = shared()
      const task = await startAction(desk)
      const id = await requestedApprovalId(desk, task.id)
      const other = await startReplica(desk)
      onTestFinished(() => stopReplica(desk, other))
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          callApi(i % 2 ? other.url : desk.url, desk.key, 'POST', `/v1/approvals/${id}/approve`, {}),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect((await desk.finished(task.id)).status).toBe('succeeded')
      expect(callsFor(desk, id)).toHaveLength(1)
    })
  })
})

/** All approve, all reject, or mixed. */
const decisionOf = (i: number, round: number) => (round === 1 || (round === 3 && i % 2 === 0) ? 'approve' : 'reject')

/** A run that makes so many gated calls at once; answers when all of them wait. */
async function startCalls(desk: GatedApp, count: number): Promise<{ taskId: string; ids: string[] }> {
  const calls = Array.from({ length: count }, (_, n) => ({
    path: 'actions/send_note',
    body: { connection: 'crm', payload: { n } },
  }))
  const { id: taskId } = await desk.createTask({ wedge: 'gate', task_type: 'act', input: { together: true, calls } })
  await requestedApprovalId(desk, taskId, count)
  const { data } = (await desk.call('GET', `/v1/approvals?task_id=${taskId}&limit=200`)).body
  return { taskId, ids: data.map(({ approval_id }: { approval_id: string }) => approval_id) }
}
