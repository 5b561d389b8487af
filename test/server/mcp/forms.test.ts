import { describe, expect, onTestFinished, test } from 'vitest'
import { anyStore } from '../../app.ts'
import {
  advanceUntilSettled,
  gatedWedgeFiles,
  openGatedApp,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
  startReplica,
  stopReplica,
} from '../../approvals/decisions/gated-app.ts'
import { sharedPeopleApp } from '../../approvals/people/people-app.ts'
import { QUESTION_WEDGE } from '../../approvals/requests/question-app.ts'
import { type PersonAnswer, REVISIONS, sdkClient, type ShownForm } from './sdk-client.ts'

const ACT = { connection: 'crm', action: 'send_note', payload: { text: 'hello', urgent: false } }
const RUN = { wedge: 'gate', task_type: 'act', input: ACT }
const WEDGES = { ...gatedWedgeFiles('gate'), ...QUESTION_WEDGE }

const accept = (content: Record<string, string | number | boolean>): PersonAnswer => ({ action: 'accept', content })

anyStore((store) => {
  describe.each(REVISIONS)('MCP forms in revision %s', (name, revision) => {
    const gatedApp = sharedGatedApp(store, { wedges: WEDGES })

    test('run_task shows the approval as a form, and continues with the decision of the person', async () => {
      const answer = () => accept({ decision: 'approve', edited_text: 'good day', reason: 'kinder' })
      const { tool, forms, client } = await sdkClient(gatedApp(), { revision, answer })
      expect(client.getNegotiatedProtocolVersion()).toBe(name)
      const { structuredContent } = await tool('run_task', RUN)
      expect(structuredContent).toMatchObject({ status: 'succeeded', finished: true, pending_approvals: [] })
      expect(forms).toHaveLength(1)
      expect(forms[0]).toMatchObject({
        message: expect.stringContaining('"text": "hello"'),
        requestedSchema: {
          properties: {
            decision: { type: 'string', enum: ['approve', 'reject', 'revise'] },
            edited_text: { type: 'string', default: 'hello' },
            edited_urgent: { type: 'boolean', default: false },
          },
          required: ['decision'],
        },
      })
      const { data } = (await gatedApp().call('GET', `/v1/approvals?task_id=${structuredContent.task_id}`)).body
      expect(data).toHaveLength(1)
      expect(data[0]).toMatchObject({ status: 'approved', edited: { text: 'good day' }, note: 'kinder' })
    })

    test('a person who closes the form leaves the approval pending, and is not asked again in the call', async () => {
      const { tool, forms } = await sdkClient(gatedApp(), { revision, answer: () => ({ action: 'decline' }) })
      const { structuredContent } = await tool('run_task', RUN)
      expect(structuredContent).toMatchObject({ status: 'awaiting_approval', finished: false })
      expect(structuredContent.pending_approvals).toHaveLength(1)
      expect(forms).toHaveLength(1)
      await gatedApp().call('POST', `/v1/tasks/${structuredContent.task_id}/cancel`)
    })

    test('a person rejects or sends back by the form', async () => {
      const { tool } = await sdkClient(gatedApp(), { revision, answer: () => accept({ decision: 'reject' }) })
      expect((await tool('run_task', RUN)).structuredContent).toMatchObject({ status: 'rejected' })
      const answer = () => accept({ decision: 'revise', reason: 'Be kinder.' })
      const reviser = await sdkClient(gatedApp(), { revision, answer })
      const revised = (await reviser.tool('run_task', RUN)).structuredContent
      expect(revised).toMatchObject({ status: 'succeeded', output: { revise: true, note: 'Be kinder.' } })
    })

    test('a form asks the questions of the agent, with options and with fields', async () => {
      const answer = ({ requestedSchema: { properties } }: ShownForm) =>
        accept(properties['answer'] ? { answer: 'small' } : { answer_city: 'Bonn', answer_floor: 3 })
      const { tool, forms } = await sdkClient(gatedApp(), { revision, answer })
      const chosen = (await tool('run_task', { wedge: 'ask', task_type: 'choice' })).structuredContent
      expect(chosen).toMatchObject({ status: 'succeeded', output: { got: { answer: 'small' } } })
      expect(forms[0]).toMatchObject({ message: 'Which size?', requestedSchema: { required: ['answer'] } })
      const filled = (await tool('run_task', { wedge: 'ask', task_type: 'form' })).structuredContent
      expect(filled).toMatchObject({ status: 'succeeded', output: { got: { answer: { city: 'Bonn', floor: 3 } } } })
    })

    test('decide_approval without a decision asks the person by a form', async () => {
      const task = await startAction(gatedApp())
      const approval_id = await requestedApprovalId(gatedApp(), task.id)
      const closer = await sdkClient(gatedApp(), { revision, answer: () => ({ action: 'decline' }) })
      const open = await closer.tool('decide_approval', { approval_id })
      expect(open.structuredContent).toMatchObject({ approval_id, decision: 'pending' })
      await gatedApp().call('POST', `/v1/approvals/${approval_id}/approve`, { hold_s: 60 })
      const held = await closer.tool('decide_approval', { approval_id })
      expect(held.content[0]?.text).toMatch(
        /^you have approved this already: it counts in \d+ seconds, unless you withdraw it$/,
      )
      expect(closer.forms).toHaveLength(1)
      await gatedApp().call('DELETE', `/v1/approvals/${approval_id}/held`)
      const { tool } = await sdkClient(gatedApp(), { revision, answer: () => accept({ decision: 'approve' }) })
      const decided = await tool('decide_approval', { approval_id })
      expect(decided.structuredContent).toEqual({ approval_id, task_id: task.id, decision: 'approved' })
      const formless = await sdkClient(gatedApp(), { revision })
      const refused = await formless.tool('decide_approval', { approval_id })
      expect(refused.content[0]?.text).toBe("argument 'decision' is required: this client cannot show a form")
    })

    test('wait_for end waits while a person decides elsewhere; decision returns at once', async () => {
      const { tool } = await sdkClient(gatedApp(), { revision })
      const stopped = (await tool('run_task', RUN)).structuredContent
      expect(stopped.status).toBe('awaiting_approval')
      const waiting = tool('get_task', { task_id: stopped.task_id, wait_s: 50, wait_for: 'end' })
      const [{ approval_id }] = stopped.pending_approvals
      await gatedApp().call('POST', `/v1/approvals/${approval_id}/approve`)
      expect((await waiting).structuredContent).toMatchObject({ status: 'succeeded', finished: true })
    })
  })

  describe('MCP forms', () => {
    const gatedApp = sharedGatedApp(store, { wedges: WEDGES })

    test('a decision that is taken elsewhere closes the open form, and the call goes on', async () => {
      let approve: (form: ShownForm) => void = () => {}
      const shown = new Promise<ShownForm>((resolve) => (approve = resolve))
      const answer = (form: ShownForm) => {
        approve(form)
        return new Promise<PersonAnswer>(() => {})
      }
      const { tool } = await sdkClient(gatedApp(), { answer })
      const running = tool('run_task', RUN)
      await shown
      const { data } = (await gatedApp().call('GET', '/v1/approvals?status=pending')).body
      await gatedApp().call('POST', `/v1/approvals/${data[0].approval_id}/approve`)
      expect((await running).structuredContent).toMatchObject({ status: 'succeeded' })
    })

    test('an answer that comes after the end of the call still counts', async () => {
      let answerNow: (answer: PersonAnswer) => void = () => {}
      const answered = new Promise<PersonAnswer>((resolve) => (answerNow = resolve))
      const { tool, forms } = await sdkClient(gatedApp(), { answer: () => answered })
      const running = tool('run_task', { ...RUN, wait_s: 20 })
      await expect.poll(() => forms.length).toBe(1)
      const { structuredContent } = await advanceUntilSettled(gatedApp(), running)
      expect(structuredContent.status).toBe('awaiting_approval')
      answerNow(accept({ decision: 'approve' }))
      expect(await gatedApp().finished(structuredContent.task_id)).toMatchObject({ status: 'succeeded' })
    })

    test('an answer to an unknown form, or without a valid decision, is 400', async () => {
      const post = (body: object) => gatedApp().call('POST', '/mcp', { jsonrpc: '2.0', ...body })
      const result = { action: 'accept', content: { decision: 'approve' } }
      expect((await post({ id: 'x', result })).status).toBe(400)
      expect((await post({ id: `apr_${'0'.repeat(26)}.${'0'.repeat(64)}.${'0'.repeat(18)}`, result })).status).toBe(404)
      const task = await startAction(gatedApp())
      const id = await requestedApprovalId(gatedApp(), task.id)
      const { payload_sha256 } = (await gatedApp().call('GET', `/v1/approvals/${id}`)).body
      const form = `${id}.${payload_sha256}.${'0'.repeat(18)}`
      const unclear = await post({ id: form, result: { action: 'accept', content: { decision: 'maybe' } } })
      expect([unclear.status, unclear.body.error]).toEqual([
        400,
        "field 'decision' must be one of approve, reject, revise",
      ])
      const stale = await post({ id: `${id}.${'0'.repeat(64)}.${'0'.repeat(18)}`, result })
      expect(stale.status).toBe(409)
      expect((await post({ id: form, error: { code: -1, message: 'no' } })).status).toBe(202)
      expect((await post({ id: form, result })).status).toBe(202)
      expect(await gatedApp().finished(task.id)).toMatchObject({ status: 'succeeded' })
      expect((await post({ id: form, result })).status).toBe(409)
    })

    test('the MCP client library accepts every result by the output schema of its tool', async () => {
      const { client, tool } = await sdkClient(gatedApp())
      const { tools } = await client.listTools()
      for (const { name, outputSchema } of tools) expect(outputSchema, name).toMatchObject({ type: 'object' })
      const ran = (await tool('run_task', RUN)).structuredContent
      const [{ approval_id }] = ran.pending_approvals
      const { approval } = (await tool('get_approval', { approval_id })).structuredContent
      expect(approval).toMatchObject({ approval_id, rule: expect.any(String), thread: [], history: expect.any(Array) })
      expect((await tool('list_approvals')).structuredContent.approvals.length).toBeGreaterThan(0)
      expect((await tool('list_wedges')).structuredContent.wedges.length).toBeGreaterThan(0)
      const stale = await tool('decide_approval', { approval_id, decision: 'approve', payload_sha256: 'other' })
      expect(stale).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('changed the payload') }],
      })
      expect((await tool('decide_approval', { approval_id, decision: 'approve' })).isError).toBe(false)
      await client.close()
    })
  })

  describe('MCP forms and the rules about approvers', () => {
    const peopleApp = sharedPeopleApp(store)
    const run = (action: string) => ({ ...RUN, input: { ...ACT, action } })

    test('only a person who may decide gets the form', async () => {
      const { people } = peopleApp()
      const answer = () => accept({ decision: 'approve' })
      for (const [action, key] of [
        ['transfer', people.operator.session],
        ['own_work', people.owner.session],
      ] as const) {
        const { tool, forms } = await sdkClient(peopleApp(), { key, answer })
        const { structuredContent } = await tool('run_task', run(action))
        expect([structuredContent.status, forms], action).toEqual(['awaiting_approval', []])
        const [{ approval_id }] = structuredContent.pending_approvals
        const refused = await tool('decide_approval', { approval_id, decision: 'approve' })
        expect(refused.isError, action).toBe(true)
        await peopleApp().call('POST', `/v1/tasks/${structuredContent.task_id}/cancel`)
      }
    })

    test('with two approvers needed, the form of each is a vote', async () => {
      const { people } = peopleApp()
      const answer = () => accept({ decision: 'approve' })
      const first = await sdkClient(peopleApp(), { key: people.admin.session, answer })
      const ran = (await first.tool('run_task', run('pay'))).structuredContent
      expect(ran.status).toBe('awaiting_approval')
      const [{ approval_id, votes }] = ran.pending_approvals
      expect(votes).toHaveLength(1)
      const second = await sdkClient(peopleApp(), { key: people.operator.session, answer })
      const decided = (await second.tool('decide_approval', { approval_id })).structuredContent
      expect(decided).toMatchObject({ decision: 'approved' })
    })
  })
})

test('PostgreSQL: an answer that arrives at another replica wakes the call that has shown the form', async () => {
  const app = await openGatedApp('postgres', WEDGES)
  onTestFinished(async () => {
    await app.stop()
    await app.outside.close()
  })
  const other = await startReplica(app)
  for (const [answer, status] of [
    [accept({ decision: 'approve' }), 'succeeded'],
    [{ action: 'decline' }, 'awaiting_approval'],
  ] as const) {
    const { tool, forms } = await sdkClient(app, { answer: () => answer, answersTo: other.url })
    const { structuredContent } = await tool('run_task', RUN)
    expect([structuredContent.status, forms.length]).toEqual([status, 1])
  }
  await stopReplica(app, other)
})
