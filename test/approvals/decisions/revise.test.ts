import { describe, expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { gatedWedgeFiles, type GatedApp, requestedApprovalId, sharedGatedApp, startAction } from './gated-app.ts'

/** Asks twice, so that a request that is sent back is followed by another one. */
const CALL = {
  call: { tool: 'act', input: { connection: 'crm', capability: 'send_note', payload: '{{input.payload}}' } },
}
const WEDGES = {
  ...gatedWedgeFiles('gate', { task_types: { act: {}, again: {}, tool: {} } }),
  'gate/rehearsals/again.json': [CALL, CALL, { output: '{{last}}' }],
}

const revise = (app: GatedApp, id: string, body: object) => app.call('POST', `/v1/approvals/${id}/revise`, body)

anyStore((store) => {
  describe('a request that is sent back', () => {
    const app = sharedGatedApp(store, { wedges: WEDGES })

    test('is rejected with the note, is not sent, and the agent asks again', async () => {
      const task = await startAction(app(), {}, { task_type: 'again' })
      const first = await requestedApprovalId(app(), task.id)
      expect(await revise(app(), first, { note: 'Say it politely.' })).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'rejected' },
      })
      const second = await requestedApprovalId(app(), task.id, 2)
      await app().call('POST', `/v1/approvals/${second}/approve`)
      expect(await app().finished(task.id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      const { body } = await app().call('GET', `/v1/approvals/${first}`)
      expect(body).toMatchObject({ status: 'rejected', revise: true, reason: 'Say it politely.' })
      expect((await app().call('GET', `/v1/approvals/${second}`)).body).toMatchObject({ revise: false })
      const events = await app().events(task.id)
      const resolved = events.filter(({ event }) => event === 'approval.resolved').map(({ data }) => data.data)
      expect(resolved).toMatchObject([
        { approval_id: first, decision: 'rejected', revise: true },
        { approval_id: second, decision: 'approved' },
      ])
      expect(app().outside.received.map(({ headers }) => headers['idempotency-key'])).not.toContain(first)
      expect((await app().call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    })

    test('gives the agent the note as the result of its call', async () => {
      const task = await startAction(app())
      await revise(app(), await requestedApprovalId(app(), task.id), { note: 'Not to this customer.' })
      expect(await app().finished(task.id)).toMatchObject({
        status: 'succeeded',
        output: { ok: false, revise: true, note: 'Not to this customer.' },
      })
    })

    test('on the tool path is not called, and the run continues', async () => {
      const input = { name: 'archive_order', args: { order: 7 } }
      const task = await app().createTask({ wedge: 'gate', task_type: 'tool', input })
      await revise(app(), await requestedApprovalId(app(), task.id), { note: 'Order 8 was meant.' })
      expect(await app().finished(task.id)).toMatchObject({
        status: 'succeeded',
        output: { error: 'a person sent this back: Order 8 was meant.' },
      })
    })

    test('continues also when its run has left the cell', async () => {
      const task = await startAction(app())
      const approval = await requestedApprovalId(app(), task.id)
      await expect
        .poll(async () => {
          await app().clock.advance(1_000)
          const rows = app().ctx.db.selectFrom('tasks').select('replica').where('id', '=', task.id)
          return (await rows.executeTakeFirst())?.replica
        })
        .toBeNull()
      await revise(app(), approval, { note: 'Shorter, please.' })
      expect(await app().finished(task.id)).toMatchObject({
        status: 'succeeded',
        output: { revise: true, note: 'Shorter, please.' },
      })
    })

    test('needs a note and a pending approval that is not a question', async () => {
      const task = await startAction(app())
      const approval = await requestedApprovalId(app(), task.id)
      for (const body of [{}, { note: '' }, { note: '  ' }, { note: 7 }])
        expect((await revise(app(), approval, body)).status).toBe(400)
      await app().call('POST', `/v1/approvals/${approval}/approve`)
      expect((await revise(app(), approval, { note: 'Too late.' })).status).toBe(409)
      expect((await revise(app(), 'apr_unknown', { note: 'x' })).status).toBe(404)
    })
  })
})
