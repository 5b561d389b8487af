import { describe, expect, test } from 'vitest'
import { anyStore, eachStore } from '../../app.ts'
import { advanceUntilSettled } from '../decisions/gated-app.ts'
import { type QuestionApp, ADDRESS_SCHEMA, answer, askTeam, sharedQuestionApp, SIZES } from './question-app.ts'

const approve = (app: QuestionApp, id: string, body?: object) => app.call('POST', `/v1/approvals/${id}/approve`, body)

anyStore((store) => {
  describe('a question to the team', () => {
    const app = sharedQuestionApp(store)

    test('is an approval with the path question, which no rule answers', async () => {
      const { id, approval } = await askTeam(app())
      expect(approval).toMatchObject({
        path: 'question',
        to: 'team',
        action: 'ask_person',
        risk: 'low',
        preview: { question: 'Why?', schema: null, options: null },
        allowed_decisions: ['edit', 'reject'],
        status: 'pending',
        connection: null,
        policy_rule: null,
      })
      expect((await app().call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
      await answer(app(), approval, 'because')
      await app().finished(id)
    })

    test('the agent gets the answer, with who gave it', async () => {
      const { id, approval } = await askTeam(app())
      expect(await answer(app(), approval, 'because')).toMatchObject({
        status: 200,
        body: { ok: true, decision: 'approved' },
      })
      const got = { answered: true, answer: 'because', answered_by: 'team', approval_id: approval.approval_id }
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { got } })
      const decided = (await app().call('GET', `/v1/approvals/${approval.approval_id}`)).body
      expect(decided).toMatchObject({ status: 'approved', edited: { answer: 'because' }, decided_by: { kind: 'key' } })
    })

    test('the log has one request and one decision, and no text of the answer', async () => {
      const { id, approval } = await askTeam(app())
      await answer(app(), approval, 'a confidential reason')
      const events = await app().events(id)
      const of = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data.data)
      expect(of('approval.requested')).toMatchObject([{ to: 'team', preview: { question: 'Why?' } }])
      expect(of('approval.resolved')).toMatchObject([{ to: 'team', decision: 'approved', edited: true }])
      expect(of('tool.called')).toMatchObject([{ tool: 'ask_person', input: { to: 'team' } }])
      expect(of('feedback.recorded')).toEqual([])
      expect(JSON.stringify(events)).not.toContain('confidential')
      expect(events.map(({ id: seq }) => Number(seq))).toEqual(events.map((_, index) => index + 1))
    })

    test('no correction and no effect is made of an answer, and the audit log binds it by its hash', async () => {
      const { id, approval } = await askTeam(app())
      await answer(app(), approval, 'because')
      await app().finished(id)
      const knowledge = (await app().call('GET', '/v1/wedges/ask/knowledge')).body.data
      expect(knowledge).toEqual([])
      expect((await app().call('GET', `/v1/tasks/${id}/actions`)).body.data).toEqual([])
      const decided = (await app().call('GET', `/v1/approvals/${approval.approval_id}`)).body
      const entries = (await app().call('GET', `/v1/audit?limit=200`)).body.data
      const entry = entries.find(({ subject }: { subject: string }) => subject === approval.approval_id)
      expect(entry).toMatchObject({
        action: 'approval.approved',
        data: { action: 'ask_person', payload_sha256: decided.payload_sha256, edited: true },
      })
      expect(decided.payload_sha256).not.toBe(approval.payload_sha256)
      expect((await app().call('GET', '/v1/audit/verify')).body.ok).toBe(true)
    })

    test.each([
      ['no body', undefined, "field 'edited.answer' is required"],
      ['no answer', { edited: {} }, "field 'edited.answer' is required"],
      ['another field', { edited: { answer: 'x', question: 'y' } }, "field 'edited' must have no field but 'answer'"],
      ['a blank answer', { edited: { answer: ' ' } }, "field 'edited.answer' must not be blank"],
      ['null', { edited: { answer: null } }, "field 'edited.answer' must not be blank"],
      ['a long answer', { edited: { answer: 'x'.repeat(10_001) } }, 'must not be longer than 10,000 characters'],
    ])('an answer with %s is refused and the question stays open', async (_, body, error) => {
      const { id, approval } = await askTeam(app())
      const refused = await approve(app(), approval.approval_id, body)
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } })
      expect(await answer(app(), approval, 'because')).toMatchObject({ status: 200 })
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded' })
    })

    test('an answer must be one of the options', async () => {
      const { id, approval } = await askTeam(app(), 'choice')
      expect(approval.preview).toEqual({ question: 'Which size?', schema: null, options: SIZES })
      const refused = await answer(app(), approval, 'medium')
      expect(refused).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('must be one of ["small","large"]') },
      })
      await answer(app(), approval, 'large')
      expect(await app().finished(id)).toMatchObject({ output: { got: { answer: 'large' } } })
    })

    test('an answer must match the schema', async () => {
      const { id, approval } = await askTeam(app(), 'form')
      expect(approval.preview).toEqual({ question: 'Where to?', schema: ADDRESS_SCHEMA, options: null })
      expect(await answer(app(), approval, { floor: 3 })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('$.city is required') },
      })
      expect(await answer(app(), approval, { city: 'Bern', floor: 'three' })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('$.floor must be integer') },
      })
      await answer(app(), approval, { city: 'Bern', floor: 3 })
      expect(await app().finished(id)).toMatchObject({ output: { got: { answer: { city: 'Bern', floor: 3 } } } })
    })

    test('a second answer, and a reject after an answer, are 409', async () => {
      const { id, approval } = await askTeam(app())
      await answer(app(), approval, 'because')
      expect(await answer(app(), approval, 'no')).toMatchObject({ status: 409 })
      expect(await app().call('POST', `/v1/approvals/${approval.approval_id}/reject`)).toMatchObject({ status: 409 })
      expect(await app().finished(id)).toMatchObject({ output: { got: { answer: 'because' } } })
    })

    test('reject continues the task: the agent is told that there is no answer', async () => {
      const { id, approval } = await askTeam(app())
      const rejected = await app().call('POST', `/v1/approvals/${approval.approval_id}/reject`, { reason: 'not now' })
      expect(rejected).toMatchObject({ status: 200, body: { ok: true, decision: 'rejected' } })
      const got = { answered: false, answer: null, approval_id: approval.approval_id }
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { got } })
      expect((await app().call('GET', `/v1/approvals/${approval.approval_id}`)).body).toMatchObject({
        status: 'rejected',
        reason: 'not now',
      })
      expect(JSON.stringify(await app().events(id))).not.toContain('not now')
    })

    test('cancel ends the task', async () => {
      const { id, approval } = await askTeam(app())
      expect((await app().call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
      expect(await app().finished(id)).toMatchObject({ status: 'rejected', output: null })
      expect((await app().call('GET', `/v1/approvals/${approval.approval_id}`)).body.status).toBe('rejected')
    })

    test('without an answer before its expiry, the task ends as expired', async () => {
      const { id, approval } = await askTeam(app())
      const ended = await advanceUntilSettled(app(), app().finished(id))
      expect(ended).toMatchObject({ status: 'expired', error: { reason: 'expired' } })
      expect(await answer(app(), approval, 'late')).toMatchObject({ status: 409 })
    })

    test('approvals can be filtered by path, and a policy simulation ignores questions', async () => {
      const { id, approval } = await askTeam(app())
      const actions = (await app().call('GET', '/v1/approvals?path=action')).body.data
      expect(actions).toEqual([])
      expect(await app().call('GET', '/v1/approvals?path=letter')).toMatchObject({ status: 400 })
      const simulated = await app().call('POST', '/v1/wedges/ask/policy/simulate', {
        auto_approve: [{ action: 'ask_person' }],
      })
      expect(simulated.body).toMatchObject({ checked: 0 })
      await answer(app(), approval, 'because')
      await app().finished(id)
    })

    test('a task without a client cannot ask one: the agent is told to ask the team', async () => {
      const { id } = await app().createTask({
        wedge: 'ask',
        task_type: 'text',
        input: { question: 'Why?', to: 'client' },
      })
      const task = await app().finished(id)
      expect(JSON.stringify(task.output)).toContain("field 'to' must be 'team': the task has no client")
    })
  })
})

eachStore((store) => {
  describe('a question to the team', () => {
    const app = sharedQuestionApp(store)

    test('of many answers at once exactly one wins', async () => {
      const { id, approval } = await askTeam(app())
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => answer(app(), approval, `answer ${n}`)))
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
      const winner = answers.findIndex(({ status }) => status === 200)
      expect(await app().finished(id)).toMatchObject({ output: { got: { answer: `answer ${winner}` } } })
    })
  })
})
