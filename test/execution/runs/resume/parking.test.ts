import { describe, expect, test } from 'vitest'
import { anyStore, eachStore } from '../../../app.ts'
import { callsFor, requestedApprovalId, sharedGatedApp, startAction } from '../../../approvals/decisions/gated-app.ts'

anyStore((store) => {
  describe('a run that waits for a person', () => {
    const app = sharedGatedApp(store)

    /** Waits until the task is parked. */
    const untilParked = async (id: string) => {
      await expect
        .poll(async () => {
          await app().clock.advance(1_000)
          return (await app().ctx.db.selectFrom('tasks').select('replica').where('id', '=', id).execute())[0]?.replica
        })
        .toBeNull()
    }

    test('leaves its cell, and continues after the approval: the action is sent once', async () => {
      const { id } = await startAction(app())
      const approval = await requestedApprovalId(app(), id)
      await untilParked(id)
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
      expect((await app().call('POST', `/v1/approvals/${approval}/approve`)).status).toBe(200)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(callsFor(app(), approval)).toHaveLength(1)
      const events = await app().events(id)
      expect(events.map(({ id: seq }) => Number(seq))).toEqual(events.map((_, index) => index + 1))
      expect(events.filter(({ event }) => event === 'tool.called')).toHaveLength(1)
      expect(events.flatMap(({ data }) => data.data.state ?? [])).toEqual(['parked', 'resumed'])
      expect((await app().call('GET', '/v1/audit/verify')).body.ok).toBe(true)
      expect(await app().ctx.db.selectFrom('run_states').selectAll().execute()).toEqual([])
    })

    test('sends what the approver edited', async () => {
      const { id } = await startAction(app())
      const approval = await requestedApprovalId(app(), id)
      await untilParked(id)
      await app().call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'goodbye' } })
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { edited: true } })
      expect(callsFor(app(), approval).map(({ body }) => JSON.parse(body))).toEqual([{ text: 'goodbye' }])
    })

    test('runs the approved tool call', async () => {
      const input = { name: 'book_room', args: { room: 7 } }
      const { id } = await app().createTask({ wedge: 'gate', task_type: 'tool', input })
      const approval = await requestedApprovalId(app(), id)
      await untilParked(id)
      await app().call('POST', `/v1/approvals/${approval}/approve`)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { book_room: { room: 7 } } })
    })

    test('parks again at its next question', async () => {
      const input = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }
      const { id } = await app().createTask({ wedge: 'gate', task_type: 'thrice', input })
      const approvals: string[] = []
      for (let n = 1; n <= 3; n++) {
        approvals.push(await requestedApprovalId(app(), id, n))
        await untilParked(id)
        await app().call('POST', `/v1/approvals/${approvals.at(-1)}/approve`)
      }
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded' })
      expect(approvals.map((approval) => callsFor(app(), approval).length)).toEqual([1, 1, 1])
      const events = await app().events(id)
      expect(events.filter(({ event }) => event === 'step.started').map(({ data }) => data.data.step)).toEqual([
        1, 2, 3, 4,
      ])
    })

    test.each([
      ['rejected', (_: string, approval: string) => app().call('POST', `/v1/approvals/${approval}/reject`)],
      ['rejected', (id: string) => app().call('POST', `/v1/tasks/${id}/cancel`)],
      ['expired', () => app().clock.advance(400_000)],
    ])('ends as %s without a cell', async (status, end) => {
      const { id } = await startAction(app())
      const approval = await requestedApprovalId(app(), id)
      await untilParked(id)
      await end(id, approval)
      await expect
        .poll(async () => {
          await app().clock.advance(1_000)
          return (await app().call('GET', `/v1/tasks/${id}`)).body.status
        })
        .toBe(status)
      expect(callsFor(app(), approval)).toEqual([])
      expect(await app().ctx.db.selectFrom('run_states').selectAll().where('task_id', '=', id).execute()).toEqual([])
    })
  })
})

eachStore((store) => {
  describe('a run that waits for a person', () => {
    const app = sharedGatedApp(store)

    test('continues if the approval comes at the moment in which it parks', async () => {
      const tasks = await Promise.all(Array.from({ length: 20 }, () => startAction(app())))
      const approvals = await Promise.all(tasks.map(({ id }) => requestedApprovalId(app(), id)))
      await Promise.all([
        app().clock.advance(10_000),
        ...approvals.map((approval) => app().call('POST', `/v1/approvals/${approval}/approve`)),
      ])
      for (const { id } of tasks) expect(await app().finished(id)).toMatchObject({ status: 'succeeded' })
      expect(approvals.map((approval) => callsFor(app(), approval).length)).toEqual(approvals.map(() => 1))
    })
  })
})
