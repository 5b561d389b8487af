import { describe, expect, test } from 'vitest'
import { hashPayload } from '../../../src/approvals/requests/ask-approval.ts'
import { anyStore } from '../../app.ts'
import { signUpOtherOrganisation } from '../../wedges/knowledge/knowledge-app.ts'
import { callsFor, requestedApprovalId, sharedGatedApp, startAction } from './gated-app.ts'

const MINUTES_5 = 300_000
const PRIVATE = 'words-of-the-founder-that-no-customer-reads'

anyStore((store) => {
  const shared = sharedGatedApp(store)

  test('an action waits for a decision, and the approved payload is sent once', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    expect((await app.call('GET', `/v1/tasks/${task.id}`)).body.status).toBe('awaiting_approval')
    expect(callsFor(app, id)).toHaveLength(0)
    const pending = (await app.call('GET', `/v1/approvals/${id}`)).body
    expect(pending).toMatchObject({
      approval_id: id,
      task_id: task.id,
      wedge: 'gate',
      task_type: 'act',
      action: 'send_note',
      risk: 'high',
      path: 'action',
      preview: { text: 'hello' },
      allowed_decisions: ['approve', 'edit', 'reject', 'revise'],
      status: 'pending',
      policy_reason: 'No auto-approve rule covers send_note.',
      decided_by: null,
    })
    expect(Date.parse(pending.expires_at) - Date.parse(pending.created_at)).toBe(MINUTES_5)
    const decided = await app.call('POST', `/v1/approvals/${id}/approve`, { note: PRIVATE })
    expect(decided).toMatchObject({ status: 200, body: { ok: true, decision: 'approved' } })
    const ended = await app.finished(task.id)
    expect(ended).toMatchObject({ status: 'succeeded', output: { ok: true, status: 200, result: { done: true } } })
    const [call, ...more] = callsFor(app, id)
    expect(more).toHaveLength(0)
    expect(call).toMatchObject({ method: 'POST', url: '/crm', body: '{"text":"hello"}' })
    expect(call?.headers.authorization).toBe('Bearer secret-of-crm')
    const events = await app.events(task.id)
    expect(events.map(({ event }) => event).filter((type) => type.startsWith('approval'))).toEqual([
      'approval.requested',
      'approval.resolved',
    ])
    expect(JSON.stringify(events)).not.toContain(PRIVATE)
    const row = (await app.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'approved', note: PRIVATE, payload_sha256: hashPayload({ text: 'hello' }) })
  })

  test('an edit replaces fields of the payload, is what is sent, and becomes knowledge of the wedge', async () => {
    const app = shared()
    const task = await startAction(app, {
      connection: 'mail',
      payload: { to: 'ann', text: 'hi', nested: { a: 1, b: 2 } },
    })
    const id = await requestedApprovalId(app, task.id)
    const edited = { text: 'Dear Ann', nested: { a: 3 } }
    expect((await app.call('POST', `/v1/approvals/${id}/approve`, { edited })).status).toBe(200)
    const { output } = await app.finished(task.id)
    const sent = JSON.parse(callsFor(app, id)[0]?.body ?? 'null')
    expect(sent).toEqual({ to: 'ann', text: 'Dear Ann', nested: { a: 3 } })
    // The agent must see the edited payload too.
    expect(output).toMatchObject({ ok: true, payload: sent, edited: true })
    const row = (await app.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'approved', edited, payload_sha256: hashPayload(sent) })
    expect(row.preview).toEqual({ to: 'ann', text: 'hi', nested: { a: 1, b: 2 } })
    const [action] = (await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
    expect(action).toMatchObject({
      approval_id: id,
      payload_sha256: hashPayload(sent),
      outcome: 'ok',
      connection: 'mail',
    })
    const events = await app.events(task.id)
    const feedback = events.find(({ event }) => event === 'feedback.recorded')?.data.data
    expect(feedback).toMatchObject({ source: 'approval' })
    const item = (await app.call('GET', `/v1/knowledge/${feedback.knowledge_id}`)).body
    expect(item).toMatchObject({ kind: 'correction', wedge: 'gate', task_id: task.id })
    expect(item.metadata).toMatchObject({ proposed: { text: 'hi' }, edited })
  })

  test('an edit without a change becomes no knowledge, and an edit that is not an object is refused', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    for (const edited of [[], 'x', 7, true]) {
      const refused = await app.call('POST', `/v1/approvals/${id}/approve`, { edited })
      expect(refused).toMatchObject({ status: 400, body: { error: "field 'edited' must be an object" } })
    }
    await app.call('POST', `/v1/approvals/${id}/approve`, { edited: { text: 'hello' } })
    await app.finished(task.id)
    expect((await app.events(task.id)).some(({ event }) => event === 'feedback.recorded')).toBe(false)
  })

  test('a rejection ends the task, and its reason is not in the log', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    const rejected = await app.call('POST', `/v1/approvals/${id}/reject`, { reason: PRIVATE })
    expect(rejected).toMatchObject({ status: 200, body: { ok: true, decision: 'rejected' } })
    expect(await app.finished(task.id)).toMatchObject({ status: 'rejected', error: { reason: 'rejected' } })
    const events = await app.events(task.id)
    expect(events.slice(-2).map(({ event }) => event)).toEqual(['approval.resolved', 'task.finished'])
    expect(events.at(-2)?.data.data).toMatchObject({ decision: 'rejected', approval_id: id })
    expect(JSON.stringify(events)).not.toContain(PRIVATE)
    expect(JSON.stringify((await app.call('GET', `/v1/tasks/${task.id}`)).body)).not.toContain(PRIVATE)
    expect((await app.call('GET', `/v1/approvals/${id}`)).body).toMatchObject({ status: 'rejected', reason: PRIVATE })
    expect(JSON.stringify((await app.call('GET', '/v1/audit?limit=200')).body)).toContain(PRIVATE)
    expect(callsFor(app, id)).toHaveLength(0)
  })

  test('a cancel of a waiting task rejects its approval', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    expect((await app.call('POST', `/v1/tasks/${task.id}/cancel`)).body).toMatchObject({ status: 'rejected' })
    const row = (await app.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'rejected', decided_by: { kind: 'key' } })
    const events = await app.events(task.id)
    expect(events.at(-2)).toMatchObject({ event: 'approval.resolved', data: { data: { decision: 'rejected' } } })
    expect(events.at(-1)?.data.data.status).toBe('rejected')
    expect((await app.call('POST', `/v1/tasks/${task.id}/cancel`)).status).toBe(409)
    expect(callsFor(app, id)).toHaveLength(0)
  })

  test('a second decision is refused and the error names the first', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    await app.call('POST', `/v1/approvals/${id}/approve`, {})
    for (const decision of ['approve', 'reject']) {
      const again = await app.call('POST', `/v1/approvals/${id}/${decision}`)
      expect(again).toMatchObject({ status: 409, body: { error: 'approval already decided (approved)' } })
    }
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
    const other = await startAction(app)
    const rejected = await requestedApprovalId(app, other.id)
    await app.call('POST', `/v1/approvals/${rejected}/reject`)
    const again = await app.call('POST', `/v1/approvals/${rejected}/approve`)
    expect(again.body).toEqual({ error: 'approval already decided (rejected)' })
  })

  describe('the tool gate', () => {
    const startTool = (name: string, args: object = { order: 7 }) =>
      shared().createTask({ wedge: 'gate', task_type: 'tool', input: { name, args } })

    test.each([
      ['book_room', 'high'],
      ['delete_room', 'medium'],
      ['archive_order', 'low'],
    ])('the tool call %s needs an approval with risk %s and cannot be edited', async (name, risk) => {
      const app = shared()
      const task = await startTool(name)
      const id = await requestedApprovalId(app, task.id)
      const row = (await app.call('GET', `/v1/approvals/${id}`)).body
      expect(row).toMatchObject({ path: 'tool', risk, action: name, preview: { order: 7 } })
      expect(row.allowed_decisions).toEqual(['approve', 'reject', 'revise'])
      await app.call('POST', `/v1/approvals/${id}/approve`, { edited: { order: 8 } })
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { [name]: { order: 7 } } })
      const after = (await app.call('GET', `/v1/approvals/${id}`)).body
      expect(after).toMatchObject({ edited: null, payload_sha256: hashPayload({ order: 7 }) })
      const events = await app.events(task.id)
      expect(events.some(({ event }) => event === 'feedback.recorded')).toBe(false)
      expect((await app.call('GET', `/v1/tasks/${task.id}/actions`)).body.data).toEqual([])
    })

    test('a tool call that matches no pattern needs no approval', async () => {
      const app = shared()
      const task = await startTool('look_up')
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded', output: { look_up: { order: 7 } } })
      expect((await app.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toEqual([])
    })

    test('a rejection ends the task before the workflow runs', async () => {
      const app = shared()
      const task = await startTool('book_room')
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, task.id)}/reject`)
      expect(await app.finished(task.id)).toMatchObject({ status: 'rejected', output: null })
      expect((await app.events(task.id)).some(({ event }) => event === 'tool.result')).toBe(false)
    })
  })

  test('the list filters by status, task and wedge, and an unknown status returns 400', async () => {
    const app = shared()
    await app.clock.advance(1)
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    const ids = async (query: string) =>
      (await app.call('GET', `/v1/approvals?${query}`)).body.data.map((row: { approval_id: string }) => row.approval_id)
    expect(await ids('status=pending')).toEqual([id])
    expect(await ids(`task_id=${task.id}`)).toEqual([id])
    expect(await ids('wedge=other')).toEqual([])
    expect(await ids('status=approved&wedge=gate')).not.toContain(id)
    const unknown = await app.call('GET', '/v1/approvals?status=decided')
    expect(unknown.status).toBe(400)
    expect(unknown.body.error).toContain('status')
    const [newest] = await ids('limit=1')
    expect(newest).toBe(id)
    await app.call('POST', `/v1/approvals/${id}/reject`)
  })

  test('an approval of another project is the same 404 as an unknown one, and a viewer cannot decide', async () => {
    const app = shared()
    const task = await startAction(app)
    const id = await requestedApprovalId(app, task.id)
    const { key } = await signUpOtherOrganisation(app)
    const absent = id.slice(0, -2) + (id.endsWith('00') ? '11' : '00')
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/approve', { edited: 'not even an object' }],
      ['POST', '/reject', undefined],
    ] as const) {
      const otherProject = await app.call(method, `/v1/approvals/${id}${path}`, body, { key })
      const none = await app.call(method, `/v1/approvals/${absent}${path}`, body)
      expect([otherProject.status, otherProject.body]).toEqual([404, { error: 'no such approval' }])
      expect([none.status, none.body]).toEqual([404, { error: 'no such approval' }])
    }
    expect((await app.call('GET', `/v1/tasks/${task.id}/actions`, undefined, { key })).status).toBe(404)
    expect((await app.call('GET', '/v1/approvals', undefined, { key })).body.data).toEqual([])
    const viewer = (await app.call('POST', '/v1/keys', { name: 'v', role: 'viewer' })).body.key
    const refused = await app.call('POST', `/v1/approvals/${id}/approve`, {}, { key: viewer })
    expect(refused).toMatchObject({ status: 403, body: { error: "role 'viewer' cannot do this" } })
    expect((await app.call('GET', `/v1/approvals/${id}`, undefined, { key: viewer })).status).toBe(200)
    await app.call('POST', `/v1/approvals/${id}/reject`)
  })
})
