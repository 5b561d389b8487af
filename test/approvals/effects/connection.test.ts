import { describe, expect, test } from 'vitest'
import { hashPayload } from '../../../src/approvals/requests/ask-approval.ts'
import { anyStore } from '../../app.ts'
import {
  advanceUntilSettled,
  callsFor,
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../decisions/gated-app.ts'

const POLICY = { auto_approve: [{ action: 'mail:*' }] }

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', { policy: POLICY }) })

  /** Changes the config of a connection except its url. */
  async function configure(app: GatedApp, name: string, more: object): Promise<void> {
    const { data } = (await app.call('GET', '/v1/connections')).body
    const { id, config } = data.find((connection: { name: string }) => connection.name === name)
    const changed = await app.call('PUT', `/v1/connections/${id}`, { config: { ...config, ...more } })
    expect(changed.status).toBe(200)
  }

  /** Approves the action of a task and returns the approval and the body that was sent. */
  async function approved(app: GatedApp, input: object, meanwhile = async () => {}) {
    const task = await startAction(app, { action: 'send_note', ...input })
    const id = await requestedApprovalId(app, task.id)
    const { body: approval } = await app.call('GET', `/v1/approvals/${id}`)
    await meanwhile()
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    await advanceUntilSettled(app, app.finished(task.id))
    const [sent] = callsFor(app, id).map(({ body }) => JSON.parse(body))
    return { approval, sent, taskId: task.id }
  }

  describe('the connection of an approval', () => {
    test('the approval and the event name the connection', async () => {
      const app = shared()
      const { approval, taskId } = await approved(app, { connection: 'crm' })
      expect(approval).toMatchObject({ connection: 'crm', connection_id: expect.stringMatching(/^conn_/) })
      const requested = (await app.events(taskId)).find(({ event }) => event === 'approval.requested')
      expect(requested?.data.data).toMatchObject({ action: 'send_note', connection: 'crm' })
    })

    test('a tool call has no connection', async () => {
      const app = shared()
      const input = { name: 'book_room', args: {} }
      const task = await app.createTask({ wedge: 'gate', task_type: 'tool', input })
      const id = await requestedApprovalId(app, task.id)
      const { body } = await app.call('GET', `/v1/approvals/${id}`)
      expect(body).toMatchObject({ connection: null, connection_id: null })
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test.each(['mail:send', 'MAIL:send'])(
      'an action %s that a rule approves is not sent through another connection',
      async (action) => {
        const app = shared()
        const task = await startAction(app, { connection: 'crm', action, payload: { refund: 99_999 } })
        const ended = await advanceUntilSettled(app, app.finished(task.id))
        expect(JSON.stringify(ended)).toContain(`'${action}' names connection 'mail', not 'crm'`)
        expect((await app.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toEqual([])
        expect(app.outside.received.filter(({ body }) => body.includes('99999'))).toEqual([])
        const own = await startAction(app, { connection: 'mail', action })
        expect(await advanceUntilSettled(app, app.finished(own.id))).toMatchObject({ status: 'succeeded' })
      },
    )
  })

  describe('the sender of a mail', () => {
    test('the preview has the sender, and a later change of the config does not change what is sent', async () => {
      const app = shared()
      await configure(app, 'mail', { from: 'help@us.test' })
      const input = { connection: 'mail', payload: { to: 'ada@them.test' } }
      const { approval, sent } = await approved(app, input, () => configure(app, 'mail', { from: 'ceo@us.test' }))
      expect(approval.preview).toEqual({ to: 'ada@them.test', from: 'help@us.test' })
      expect(sent).toEqual(approval.preview)
      expect(hashPayload(sent)).toBe(approval.payload_sha256)
    })

    test('the configured sender replaces the one that the agent wrote', async () => {
      const app = shared()
      await configure(app, 'mail', { from: 'help@us.test' })
      const payload = { from: 'ceo@us.test', to: 'ada@them.test' }
      expect((await approved(app, { connection: 'mail', payload })).sent).toEqual({ ...payload, from: 'help@us.test' })
    })

    test('a webhook connection adds no sender', async () => {
      const app = shared()
      await configure(app, 'hook', { from: 'help@us.test' })
      expect((await approved(app, { connection: 'hook', payload: { a: 1 } })).sent).toEqual({ a: 1 })
    })
  })
})
