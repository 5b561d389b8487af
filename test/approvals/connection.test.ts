import { describe, expect, test } from 'vitest'
import { hashPayload } from '../../src/approvals/ask-approval.ts'
import { eachStore } from '../app.ts'
import {
  requestedApprovalId,
  callsFor,
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
  gatedWedgeFiles,
} from './gated-app.ts'

const POLICY = { auto_approve: [{ action: 'mail:*' }] }

eachStore((store) => {
  const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', { policy: POLICY }) })

  /** Changes the config of a connection, beside its address. */
  async function configure(desk: GatedApp, name: string, more: object): Promise<void> {
    const { data } = (await desk.call('GET', '/v1/connections')).body
    const { id, config } = data.find((connection: { name: string }) => connection.name === name)
    const changed = await desk.call('PUT', `/v1/connections/${id}`, { config: { ...config, ...more } })
    expect(changed.status).toBe(200)
  }

  /** What was decided on, and what was sent. */
  async function approved(desk: GatedApp, input: object, meanwhile = async () => {}) {
    const task = await startAction(desk, { action: 'send_note', ...input })
    const id = await requestedApprovalId(desk, task.id)
    const { body: approval } = await desk.call('GET', `/v1/approvals/${id}`)
    await meanwhile()
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    await advanceUntilSettled(desk, desk.finished(task.id))
    const [sent] = callsFor(desk, id).map(({ body }) => JSON.parse(body))
    return { approval, sent, taskId: task.id }
  }

  describe('through which connection', () => {
    test('whoever decides is told, in the record and in the log', async () => {
      const desk = shared()
      const { approval, taskId } = await approved(desk, { connection: 'crm' })
      expect(approval).toMatchObject({ connection: 'crm', connection_id: expect.stringMatching(/^conn_/) })
      const asked = (await desk.events(taskId)).find(({ event }) => event === 'approval.requested')
      expect(asked?.data.data).toMatchObject({ action: 'send_note', connection: 'crm' })
    })

    test('a tool goes through none', async () => {
      const desk = shared()
      const input = { name: 'book_room', args: {} }
      const task = await desk.createTask({ wedge: 'gate', task_type: 'tool', input })
      const id = await requestedApprovalId(desk, task.id)
      const { body } = await desk.call('GET', `/v1/approvals/${id}`)
      expect(body).toMatchObject({ connection: null, connection_id: null })
      await desk.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test.each(['mail:send', 'MAIL:send'])(
      'what a rule lets pass as %s does not leave through another',
      async (action) => {
        const desk = shared()
        const task = await startAction(desk, { connection: 'crm', action, payload: { refund: 99_999 } })
        const ended = await advanceUntilSettled(desk, desk.finished(task.id))
        expect(JSON.stringify(ended)).toContain(`'${action}' names connection 'mail', not 'crm'`)
        expect((await desk.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toEqual([])
        expect(desk.outside.received.filter(({ body }) => body.includes('99999'))).toEqual([])
        const own = await startAction(desk, { connection: 'mail', action })
        expect(await advanceUntilSettled(desk, desk.finished(own.id))).toMatchObject({ status: 'succeeded' })
      },
    )
  })

  describe('the sender', () => {
    test('stands in the preview, and what is sent is the preview, whatever is configured meanwhile', async () => {
      const desk = shared()
      await configure(desk, 'mail', { from: 'help@us.test' })
      const input = { connection: 'mail', payload: { to: 'ada@them.test' } }
      const { approval, sent } = await approved(desk, input, () => configure(desk, 'mail', { from: 'ceo@us.test' }))
      expect(approval.preview).toEqual({ to: 'ada@them.test', from: 'help@us.test' })
      expect(sent).toEqual(approval.preview)
      expect(hashPayload(sent)).toBe(approval.payload_sha256)
    })

    test('is the configured one, whatever the agent writes', async () => {
      const desk = shared()
      await configure(desk, 'mail', { from: 'help@us.test' })
      const payload = { from: 'ceo@us.test', to: 'ada@them.test' }
      expect((await approved(desk, { connection: 'mail', payload })).sent).toEqual({ ...payload, from: 'help@us.test' })
    })

    test('is nothing that a webhook adds', async () => {
      const desk = shared()
      await configure(desk, 'hook', { from: 'help@us.test' })
      expect((await approved(desk, { connection: 'hook', payload: { a: 1 } })).sent).toEqual({ a: 1 })
    })
  })
})
