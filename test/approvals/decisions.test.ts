import { describe, expect, test } from 'vitest'
import { hashPayload } from '../../src/approvals/ask-approval.ts'
import { eachStore } from '../app.ts'
import { signUpOtherOrganisation } from '../knowledge/knowledge-app.ts'
import { requestedApprovalId, callsFor, sharedGatedApp, startAction } from './gated-app.ts'

const MINUTES_5 = 300_000
const PRIVATE = 'words-of-the-founder-that-no-customer-reads'

eachStore((store) => {
  const shared = sharedGatedApp(store)

  test('an action waits for a person, and what was approved is sent once', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    expect((await desk.call('GET', `/v1/tasks/${task.id}`)).body.status).toBe('awaiting_approval')
    expect(callsFor(desk, id)).toHaveLength(0)
    const asked = (await desk.call('GET', `/v1/approvals/${id}`)).body
    expect(asked).toMatchObject({
      approval_id: id,
      task_id: task.id,
      wedge: 'gate',
      task_type: 'act',
      action: 'send_note',
      risk: 'high',
      path: 'action',
      preview: { text: 'hello' },
      allowed_decisions: ['approve', 'edit', 'reject'],
      status: 'pending',
      policy_reason: null,
      decided_by: null,
    })
    expect(Date.parse(asked.expires_at) - Date.parse(asked.created_at)).toBe(MINUTES_5)
    const decided = await desk.call('POST', `/v1/approvals/${id}/approve`, { note: PRIVATE })
    expect(decided).toMatchObject({ status: 200, body: { ok: true, decision: 'approved' } })
    const ended = await desk.finished(task.id)
    expect(ended).toMatchObject({ status: 'succeeded', output: { ok: true, status: 200, result: { done: true } } })
    const [call, ...more] = callsFor(desk, id)
    expect(more).toHaveLength(0)
    expect(call).toMatchObject({ method: 'POST', url: '/crm', body: '{"text":"hello"}' })
    expect(call?.headers.authorization).toBe('Bearer secret-of-crm')
    const events = await desk.events(task.id)
    expect(events.map(({ event }) => event).filter((type) => type.startsWith('approval'))).toEqual([
      'approval.requested',
      'approval.resolved',
    ])
    expect(JSON.stringify(events)).not.toContain(PRIVATE)
    const row = (await desk.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'approved', note: PRIVATE, payload_sha256: hashPayload({ text: 'hello' }) })
  })

  test('an edit overlays the payload, is what is sent, and teaches the wedge', async () => {
    const desk = shared()
    const task = await startAction(desk, {
      connection: 'mail',
      payload: { to: 'ann', text: 'hi', nested: { a: 1, b: 2 } },
    })
    const id = await requestedApprovalId(desk, task.id)
    const edited = { text: 'Dear Ann', nested: { a: 3 } }
    expect((await desk.call('POST', `/v1/approvals/${id}/approve`, { edited })).status).toBe(200)
    const { output } = await desk.finished(task.id)
    const sent = JSON.parse(callsFor(desk, id)[0]?.body ?? 'null')
    expect(sent).toEqual({ to: 'ann', text: 'Dear Ann', nested: { a: 3 } })
    // What the agent does next must not say otherwise.
    expect(output).toMatchObject({ ok: true, payload: sent, edited: true })
    const row = (await desk.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'approved', edited, payload_sha256: hashPayload(sent) })
    expect(row.preview).toEqual({ to: 'ann', text: 'hi', nested: { a: 1, b: 2 } })
    const [action] = (await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body.data
    expect(action).toMatchObject({
      approval_id: id,
      payload_sha256: hashPayload(sent),
      outcome: 'ok',
      connection: 'mail',
    })
    const events = await desk.events(task.id)
    const noted = events.find(({ event }) => event === 'feedback.recorded')?.data.data
    expect(noted).toMatchObject({ source: 'approval' })
    const item = (await desk.call('GET', `/v1/knowledge/${noted.knowledge_id}`)).body
    expect(item).toMatchObject({ kind: 'correction', wedge: 'gate', task_id: task.id })
    expect(item.metadata).toMatchObject({ proposed: { text: 'hi' }, edited })
  })

  test('an edit that changes nothing teaches nothing; one that is no object is refused', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    for (const edited of [[], 'x', 7, true]) {
      const refused = await desk.call('POST', `/v1/approvals/${id}/approve`, { edited })
      expect(refused).toMatchObject({ status: 400, body: { error: "field 'edited' must be an object" } })
    }
    await desk.call('POST', `/v1/approvals/${id}/approve`, { edited: { text: 'hello' } })
    await desk.finished(task.id)
    expect((await desk.events(task.id)).some(({ event }) => event === 'feedback.recorded')).toBe(false)
  })

  test('a rejection ends the task, and its reason stays out of the log', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    const said = await desk.call('POST', `/v1/approvals/${id}/reject`, { reason: PRIVATE })
    expect(said).toMatchObject({ status: 200, body: { ok: true, decision: 'rejected' } })
    expect(await desk.finished(task.id)).toMatchObject({ status: 'rejected', error: { reason: 'rejected' } })
    const events = await desk.events(task.id)
    expect(events.slice(-2).map(({ event }) => event)).toEqual(['approval.resolved', 'task.finished'])
    expect(events.at(-2)?.data.data).toMatchObject({ decision: 'rejected', approval_id: id })
    expect(JSON.stringify(events)).not.toContain(PRIVATE)
    expect(JSON.stringify((await desk.call('GET', `/v1/tasks/${task.id}`)).body)).not.toContain(PRIVATE)
    expect((await desk.call('GET', `/v1/approvals/${id}`)).body).toMatchObject({ status: 'rejected', reason: PRIVATE })
    expect(JSON.stringify((await desk.call('GET', '/v1/audit?limit=200')).body)).toContain(PRIVATE)
    expect(callsFor(desk, id)).toHaveLength(0)
  })

  test('a cancel while it waits settles the approval as rejected', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    expect((await desk.call('POST', `/v1/tasks/${task.id}/cancel`)).body).toMatchObject({ status: 'rejected' })
    const row = (await desk.call('GET', `/v1/approvals/${id}`)).body
    expect(row).toMatchObject({ status: 'rejected', decided_by: { kind: 'key' } })
    const events = await desk.events(task.id)
    expect(events.at(-2)).toMatchObject({ event: 'approval.resolved', data: { data: { decision: 'rejected' } } })
    expect(events.at(-1)?.data.data.status).toBe('rejected')
    expect((await desk.call('POST', `/v1/tasks/${task.id}/cancel`)).status).toBe(409)
    expect(callsFor(desk, id)).toHaveLength(0)
  })

  test('a second decision is refused and names the first', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    await desk.call('POST', `/v1/approvals/${id}/approve`, {})
    for (const decision of ['approve', 'reject']) {
      const again = await desk.call('POST', `/v1/approvals/${id}/${decision}`)
      expect(again).toMatchObject({ status: 409, body: { error: 'approval already decided (approved)' } })
    }
    expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded' })
    const other = await startAction(desk)
    const rejected = await requestedApprovalId(desk, other.id)
    await desk.call('POST', `/v1/approvals/${rejected}/reject`)
    const again = await desk.call('POST', `/v1/approvals/${rejected}/approve`)
    expect(again.body).toEqual({ error: 'approval already decided (rejected)' })
  })

  describe('the tool gate', () => {
    const startTool = (name: string, args: object = { order: 7 }) =>
      shared().createTask({ wedge: 'gate', task_type: 'tool', input: { name, args } })

    test.each([
      ['book_room', 'high'],
      ['delete_room', 'medium'],
      ['archive_order', 'low'],
    ])('%s is asked for with risk %s and cannot be edited', async (name, risk) => {
      const desk = shared()
      const task = await startTool(name)
      const id = await requestedApprovalId(desk, task.id)
      const row = (await desk.call('GET', `/v1/approvals/${id}`)).body
      expect(row).toMatchObject({ path: 'tool', risk, action: name, preview: { order: 7 } })
      expect(row.allowed_decisions).toEqual(['approve', 'reject'])
      await desk.call('POST', `/v1/approvals/${id}/approve`, { edited: { order: 8 } })
      expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded', output: { [name]: { order: 7 } } })
      const after = (await desk.call('GET', `/v1/approvals/${id}`)).body
      expect(after).toMatchObject({ edited: null, payload_sha256: hashPayload({ order: 7 }) })
      const events = await desk.events(task.id)
      expect(events.some(({ event }) => event === 'feedback.recorded')).toBe(false)
      expect((await desk.call('GET', `/v1/tasks/${task.id}/actions`)).body.data).toEqual([])
    })

    test('a name that matches no pattern is not asked for', async () => {
      const desk = shared()
      const task = await startTool('look_up')
      expect(await desk.finished(task.id)).toMatchObject({ status: 'succeeded', output: { look_up: { order: 7 } } })
      expect((await desk.call('GET', `/v1/approvals?task_id=${task.id}`)).body.data).toEqual([])
    })

    test('a rejection ends the task before the workflow ran', async () => {
      const desk = shared()
      const task = await startTool('book_room')
      await desk.call('POST', `/v1/approvals/${await requestedApprovalId(desk, task.id)}/reject`)
      expect(await desk.finished(task.id)).toMatchObject({ status: 'rejected', output: null })
      expect((await desk.events(task.id)).some(({ event }) => event === 'tool.result')).toBe(false)
    })
  })

  test('lists filter by status, task and wedge, and an unknown status is 400', async () => {
    const desk = shared()
    await desk.clock.advance(1)
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    const ids = async (query: string) =>
      (await desk.call('GET', `/v1/approvals?${query}`)).body.data.map(
        (row: { approval_id: string }) => row.approval_id,
      )
    expect(await ids('status=pending')).toEqual([id])
    expect(await ids(`task_id=${task.id}`)).toEqual([id])
    expect(await ids('wedge=other')).toEqual([])
    expect(await ids('status=approved&wedge=gate')).not.toContain(id)
    const unknown = await desk.call('GET', '/v1/approvals?status=decided')
    expect(unknown.status).toBe(400)
    expect(unknown.body.error).toContain('status')
    const [newest] = await ids('limit=1')
    expect(newest).toBe(id)
    await desk.call('POST', `/v1/approvals/${id}/reject`)
  })

  test('absent and out of scope are the same 404, a viewer cannot decide', async () => {
    const desk = shared()
    const task = await startAction(desk)
    const id = await requestedApprovalId(desk, task.id)
    const { key } = await signUpOtherOrganisation(desk)
    const absent = id.slice(0, -2) + (id.endsWith('00') ? '11' : '00')
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/approve', { edited: 'not even an object' }],
      ['POST', '/reject', undefined],
    ] as const) {
      const foreign = await desk.call(method, `/v1/approvals/${id}${path}`, body, { key })
      const none = await desk.call(method, `/v1/approvals/${absent}${path}`, body)
      expect([foreign.status, foreign.body]).toEqual([404, { error: 'no such approval' }])
      expect([none.status, none.body]).toEqual([404, { error: 'no such approval' }])
    }
    expect((await desk.call('GET', `/v1/tasks/${task.id}/actions`, undefined, { key })).status).toBe(404)
    expect((await desk.call('GET', '/v1/approvals', undefined, { key })).body.data).toEqual([])
    const viewer = (await desk.call('POST', '/v1/keys', { name: 'v', role: 'viewer' })).body.key
    const refused = await desk.call('POST', `/v1/approvals/${id}/approve`, {}, { key: viewer })
    expect(refused).toMatchObject({ status: 403, body: { error: "role 'viewer' cannot do this" } })
    expect((await desk.call('GET', `/v1/approvals/${id}`, undefined, { key: viewer })).status).toBe(200)
    await desk.call('POST', `/v1/approvals/${id}/reject`)
  })
})
