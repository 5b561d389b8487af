import { describe, expect, test } from 'vitest'
import { endTasksOfEarlierProcess } from '../../../../src/execution/runs/replicas/dead-replicas.ts'
import { pruneOldLogs } from '../../../../src/automation/retention/prune-logs.ts'
import { eachStore } from '../../../app.ts'
import {
  callsFor,
  gatedWedgeFiles,
  type GatedApp,
  requestedApprovalId,
  sharedGatedApp,
} from '../../../approvals/decisions/gated-app.ts'
import { respondJson } from '../../../fake-upstream.ts'

const WEDGES = gatedWedgeFiles('gate', {
  policy: { auto_approve: [{ action: 'send_note' }] },
  task_types: { act: { harness: { resume: true } }, thrice: {} },
})

/** Starts a run whose action reaches the outside server, which does not respond; then its replica counts as dead. */
async function interruptAction(app: GatedApp, taskType: string): Promise<{ id: string; approval: string }> {
  const arrived = new Promise<void>((resolve) => {
    app.outside.respond = () => resolve()
  })
  const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
  const { id } = await app.createTask({ wedge: 'gate', task_type: taskType, input })
  await arrived
  app.outside.respond = (_request, response) => respondJson(response, 200, { done: true })
  const approval = app.outside.received.at(-1)?.headers['idempotency-key']
  await forgetReplica(app, id)
  return { id, approval: String(approval) }
}

/** Gives the task and its action to a replica that does not exist any more. */
async function forgetReplica(app: GatedApp, id: string): Promise<void> {
  // One process cannot have two runs of a task, so the run of the earlier process ends.
  app.ctx.liveRuns.get(id)?.end('interrupted')
  await expect.poll(() => app.ctx.liveRuns.get(id)).toBeUndefined()
  await app.ctx.store.transact(async (db) => {
    await db.updateTable('tasks').set({ replica: 'rep_dead' }).where('id', '=', id).execute()
    await db.updateTable('effects').set({ replica: 'rep_dead' }).where('task_id', '=', id).execute()
  })
  await endTasksOfEarlierProcess(app.ctx)
}

/** Whether the task was seen as running without anything that another replica could continue with. */
async function wasRunningWithoutState(app: GatedApp, id: string): Promise<boolean> {
  const read = app.ctx.db
    .selectFrom('tasks')
    .leftJoin('run_states', 'run_states.task_id', 'tasks.id')
    .select(['tasks.status', 'run_states.task_id'])
    .where('tasks.id', '=', id)
  for (;;) {
    const { status, task_id } = await read.executeTakeFirstOrThrow()
    if (status === 'running' && task_id === null) return true
    if (status !== 'queued' && status !== 'provisioning') return false
    await new Promise((resolve) => setImmediate(resolve))
  }
}

eachStore((store) => {
  describe('a run whose replica died while its action was on its way', () => {
    const app = sharedGatedApp(store, { wedges: WEDGES })
    const outcomes = async (id: string) =>
      (await app().call('GET', `/v1/tasks/${id}/actions`)).body.data.map(({ outcome }: { outcome: string }) => outcome)

    test.each([
      { answer: 'done', calls: 1, ok: true, outcome: 'unknown' },
      { answer: 'not_done', calls: 2, ok: true, outcome: 'ok' },
      { answer: null, calls: 1, ok: false, outcome: 'unknown' },
    ])('asks whether it was done, and after the answer $answer it was sent $calls times', async (expected) => {
      const { id, approval } = await interruptAction(app(), 'act')
      const question = await requestedApprovalId(app(), id)
      const { body } = await app().call('GET', `/v1/approvals/${question}`)
      expect(body).toMatchObject({ path: 'question', preview: { options: ['done', 'not_done'] } })
      expect(body.preview.question).toContain(approval)
      const [decision, edit] =
        expected.answer === null ? ['reject', {}] : ['approve', { edited: { answer: expected.answer } }]
      expect((await app().call('POST', `/v1/approvals/${question}/${decision}`, edit)).status).toBe(200)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { ok: expected.ok } })
      expect(callsFor(app(), approval)).toHaveLength(expected.calls)
      expect(await outcomes(id)).toEqual([expected.outcome])
      const events = await app().events(id)
      expect(events.map(({ id: seq }) => Number(seq))).toEqual(events.map((_, index) => index + 1))
      expect(events.filter(({ event }) => event === 'tool.called')).toHaveLength(1)
      expect(events.flatMap(({ data }) => data.data.state ?? [])).toEqual(['parked', 'resumed'])
    })

    test('keeps its conversation and results until retention removes them', async () => {
      const { id } = await interruptAction(app(), 'act')
      const question = await requestedApprovalId(app(), id)
      await app().call('POST', `/v1/approvals/${question}/approve`, { edited: { answer: 'not_done' } })
      await app().finished(id)
      const stored = async () => {
        const { db } = app().ctx
        const transcripts = await db.selectFrom('transcripts').select('entries').where('task_id', '=', id).execute()
        const effects = await db.selectFrom('effects').select('result').where('task_id', '=', id).execute()
        return { turns: transcripts.length > 0, results: effects.map(({ result }) => result !== null) }
      }
      expect(await stored()).toEqual({ turns: true, results: [true] })
      await app().clock.advance(1_000)
      await pruneOldLogs(app().ctx, 0)
      expect(await stored()).toEqual({ turns: false, results: [false] })
    })

    test('repeats no event if the replica died before it stored the turn of the last events', async () => {
      const { id } = await interruptAction(app(), 'act')
      const question = await requestedApprovalId(app(), id)
      await app().ctx.store.transact((db) => db.deleteFrom('transcripts').where('task_id', '=', id).execute())
      await app().call('POST', `/v1/approvals/${question}/approve`, { edited: { answer: 'done' } })
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      const events = await app().events(id)
      const count = (type: string) => events.filter(({ event }) => event === type).length
      expect([count('step.started'), count('tool.called'), count('tool.result')]).toEqual([2, 1, 1])
    })

    test('can continue from its first event on', async () => {
      app().outside.respond = (_request, response) => respondJson(response, 200, { done: true })
      const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
      for (let n = 0; n < 5; n++) {
        const { id } = await app().createTask({ wedge: 'gate', task_type: 'act', input })
        expect(await wasRunningWithoutState(app(), id)).toBe(false)
        expect(await app().finished(id)).toMatchObject({ status: 'succeeded' })
      }
    })

    test('is interrupted if its task type is not resumable', async () => {
      const { id, approval } = await interruptAction(app(), 'thrice')
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
      expect(callsFor(app(), approval)).toHaveLength(1)
    })

    test('is interrupted after three resumes without progress', async () => {
      const { id } = await interruptAction(app(), 'act')
      const question = await requestedApprovalId(app(), id)
      await app().ctx.store.transact((db) =>
        db.updateTable('run_states').set({ resumes: 3 }).where('task_id', '=', id).execute(),
      )
      // The decision makes the task run, and its replica dies before the run stores anything.
      await forgetReplica(app(), id)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
      await app().ctx.store.transact((db) =>
        db.updateTable('tasks').set({ status: 'running', replica: 'rep_dead' }).where('id', '=', id).execute(),
      )
      await endTasksOfEarlierProcess(app().ctx)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body).toMatchObject({
        status: 'failed',
        error: { reason: 'interrupted' },
      })
      expect((await app().call('GET', `/v1/approvals/${question}`)).body.status).toBe('expired')
    })
  })
})
