import { describe, beforeAll, expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { createAndGetId, sendInbound } from '../../customers/channels/channel-app.ts'
import { addFile } from '../../work/files/add-file.ts'
import { gatedWedgeFiles, requestedApprovalId, sharedGatedApp, startAction } from '../decisions/gated-app.ts'

const NOTE = { connection: 'crm', capability: 'send_note', payload: { text: 'Your order left yesterday.' } }

const WEDGES = {
  ...gatedWedgeFiles('gate', {
    connections: ['crm', 'mail', 'hook', 'stripe'],
    task_types: { act: {}, answer: {} },
    workflows: [{ name: 'look_up' }],
    cases: { stages: ['new', 'done'], initial: 'new' },
    policy: { auto_approve: [{ action: 'send_note', max_amount_usd: 5 }] },
  }),
  'gate/rehearsals/answer.json': [
    { say: 'I look the order up.', call: { tool: 'workflow', input: { name: 'look_up', args: { order: 7 } } } },
    { call: { tool: 'act', input: NOTE } },
    { output: '{{last}}' },
  ],
}

const REFUND = {
  name: 'create_refund',
  method: 'POST',
  path: '/create_refund',
  body: 'json',
  description: 'Create a refund.',
  amount: { path: 'amount', unit: 'minor', currency: 'usd' },
  input_schema: { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } },
}

anyStore((store) => {
  describe('an approval', () => {
    const app = sharedGatedApp(store, { wedges: WEDGES })
    let channel: string

    beforeAll(async () => {
      const config = { base_url: `${app().outside.url}/stripe`, operations: [REFUND] }
      const stripe = await createAndGetId(app(), '/v1/connections', { kind: 'custom', name: 'stripe', config })
      await app().call('POST', `/v1/connections/${stripe}/secret`, { value: 'sk_test' })
      const { body } = await app().call('GET', '/v1/connections')
      const mail = body.data.find(({ name }: { name: string }) => name === 'mail')
      const binding = { connection_id: mail.id, address: 'help@desk.example', wedge: 'gate', task_type: 'answer' }
      channel = await createAndGetId(app(), '/v1/channels', binding)
    })

    const read = async (approval: string) => (await app().call('GET', `/v1/approvals/${approval}`)).body

    test('of a customer message shows the message, the thread, what the agent did and who asked', async () => {
      const written = await sendInbound({ ...app(), channel }, 'ada@example.com', { body: 'Where is my order?' })
      const approval = await requestedApprovalId(app(), written.task_id)
      await app().clock.advance(1_000)
      await app().call('POST', `/v1/threads/${written.thread_id}/messages`, { body: 'We look into it.' })
      const view = await read(approval)
      expect(view.context).toEqual({
        client: { id: written.client_id, name: 'Ada' },
        thread_id: written.thread_id,
        message: {
          id: expect.stringMatching(/^msg_/),
          body: 'Where is my order?',
          unverified: false,
          at: view.created_at,
          from: { handle: 'ada@example.com', name: 'Ada' },
        },
        case_id: null,
        requested_by: { kind: 'key', id: expect.any(String), name: expect.any(String) },
      })
      expect(view.thread).toMatchObject([
        { direction: 'inbound', body: 'Where is my order?', author: null },
        { direction: 'outbound', body: 'We look into it.', author: { kind: 'key', name: expect.any(String) } },
      ])
      expect(view.steps.map(({ text }: { text: string }) => text)).toEqual([
        'I look the order up.',
        'workflow {"name":"look_up","args":{"order":7}}',
      ])
      expect(view.rule).toBe('Auto-approval limit is $5; the payload states no amount.')
      expect(view).toMatchObject({ files: [], schema: null, votes: [], needed: 1, approvers: null, comment_count: 0 })
      const { body } = await app().call('GET', `/v1/approvals?task_id=${written.task_id}`)
      const { thread: _t, history: _h, steps: _s, rule: _r, files: _f, waits_for: _w, schema: _c, ...listed } = view
      expect(body.data).toEqual([listed])
      const needs = await app().call('GET', '/v1/needs-you')
      const item = needs.body.data.find(({ id }: { id: string }) => id === approval)
      expect(item.approval).toEqual(listed)
    })

    test('keeps the message that was the newest when it was asked for, cut to 4,000 characters', async () => {
      const long = 'x'.repeat(5_000)
      const written = await sendInbound({ ...app(), channel }, 'grace@example.com', { body: long })
      const approval = await requestedApprovalId(app(), written.task_id)
      await app().clock.advance(1_000)
      await sendInbound({ ...app(), channel }, 'grace@example.com', { body: 'One more thing.' })
      const view = await read(approval)
      expect(view.context.message.body).toBe('x'.repeat(4_000))
      expect(view.thread.at(-1).body).toBe('One more thing.')
    })

    test('of a case shows the case', async () => {
      const opened = await createAndGetId(app(), '/v1/cases', { wedge: 'gate', title: 'Order 7' })
      const request = { task_type: 'answer', input: {} }
      const task = await app().call('POST', `/v1/cases/${opened}/tasks`, request)
      const view = await read(await requestedApprovalId(app(), task.body.id))
      expect(view.context).toMatchObject({ case_id: opened, client: null, thread_id: null, message: null })
    })

    test('of a customer message shows the newest case about the conversation', async () => {
      const written = await sendInbound({ ...app(), channel }, 'kim@example.com', { body: 'Two parcels are lost.' })
      const approval = await requestedApprovalId(app(), written.task_id)
      const about = { wedge: 'gate', thread_id: written.thread_id }
      await createAndGetId(app(), '/v1/cases', { ...about, title: 'First parcel' })
      await app().clock.advance(1_000)
      const newest = await createAndGetId(app(), '/v1/cases', { ...about, title: 'Second parcel' })
      expect((await read(approval)).context).toMatchObject({ case_id: newest, thread_id: written.thread_id })
    })

    test('shows the earlier decisions on the same action with the names of those who decided', async () => {
      const refund = async (amount: number) => {
        const input = { connection: 'stripe', action: 'stripe:create_refund', payload: { amount } }
        const id = await requestedApprovalId(app(), (await startAction(app(), input)).id)
        await app().clock.advance(1_000)
        return id
      }
      const first = await refund(1_000)
      await app().call('POST', `/v1/approvals/${first}/approve`, { edited: { amount: 500 } })
      const second = await refund(2_000)
      await app().call('POST', `/v1/approvals/${second}/reject`, { reason: 'not theirs' })
      const third = await refund(3_000)
      const view = await read(third)
      const decided_by = { kind: 'key', id: expect.any(String), name: expect.any(String) }
      expect(view.history).toEqual([
        {
          approval_id: second,
          text: 'stripe: create a refund of $20.00',
          status: 'rejected',
          decided_by,
          decided_at: expect.any(String),
          edited: false,
          reason: 'not theirs',
        },
        expect.objectContaining({
          approval_id: first,
          text: 'stripe: create a refund of $5.00',
          status: 'approved',
          edited: true,
        }),
      ])
      expect(view.schema).toMatchObject({ properties: { amount: { type: 'integer' } } })
      expect((await read(first)).decided_by).toEqual(decided_by)
    })

    test('shows the files of the payload and of the task once each', async () => {
      const sent = await addFile(app(), 'invoice.txt', 'pay')
      const given = await addFile(app(), 'order.txt', 'order')
      const input = { payload: { text: 'see file', files: [{ $file: sent.id }] } }
      const task = await startAction(app(), input, { files: [sent.id, given.id] })
      const view = await read(await requestedApprovalId(app(), task.id))
      expect(view.files.map(({ name }: { name: string }) => name)).toEqual(['invoice.txt', 'order.txt'])
    })

    test('that a rule approved was decided by the policy', async () => {
      const task = await startAction(app(), { payload: { text: 'hi', amount_usd: 1 } })
      await app().finished(task.id)
      const { body } = await app().call('GET', `/v1/approvals?task_id=${task.id}`)
      expect(body.data[0].decided_by).toEqual({ kind: 'system', id: 'policy', name: 'policy' })
    })
  })
})
