import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import {
  createAndGetId,
  openChannelApp,
  openPortal,
  otherOrganisationSession,
} from '../../customers/channels/channel-app.ts'
import { openMcpApp, pendingApproval, startCall } from '../../connections/mcp/mcp-app.ts'
import { methodsOf, type ToolCall } from '../../connections/mcp/mcp-server.ts'
import { findInDatabase } from './find-in-database.ts'
import { openGatedApp, gatedWedgeFiles, requestedApprovalId, startAction } from '../../approvals/decisions/gated-app.ts'

const CANARY = 'canary-7f3a'

anyStore((store) => {
  test('nothing of an erased client is left: messages, tasks, logs, access', async () => {
    const app = await openChannelApp(store, 'reply')
    const other = await openPortal(app, 'kim@example.com')
    const { client_id, task_id, thread_id, portal } = await openPortal(app, `${CANARY}@example.com`, {
      body: `My secret is ${CANARY}.`,
    })
    await app.finished(task_id)
    await app.call('PUT', `/v1/clients/${client_id}`, { metadata: { note: CANARY } })
    await createAndGetId(app, '/v1/connections', { kind: 'custom', name: 'own', client_id, config: { note: CANARY } })
    const schedule = { name: 'weekly', wedge: 'reply', task_type: 'triage', cadence: { kind: 'every', seconds: 3600 } }
    await createAndGetId(app, '/v1/schedules', { ...schedule, client_id, input: { body: CANARY } })
    await app.call('POST', `/v1/tasks/${task_id}/feedback`, { correction: `Write to ${CANARY} first.` })
    expect((await findInDatabase(app, CANARY)).length).toBeGreaterThan(5)
    const { status, body } = await app.call('POST', `/v1/clients/${client_id}/erase`)
    expect(status).toBe(200)
    expect(body).toEqual({
      client_id,
      erased: { tasks: 1, files: 0, knowledge: 1, threads: 1, messages: 2, connections: 1 },
    })
    expect(await findInDatabase(app, CANARY)).toEqual([])
    expect((await portal('GET', 'me')).status).toBe(401)
    expect((await app.call('GET', `/v1/clients/${client_id}`)).status).toBe(404)
    expect((await app.call('GET', `/v1/threads/${thread_id}`)).status).toBe(404)
    const task = (await app.call('GET', `/v1/tasks/${task_id}`)).body
    expect(task).toMatchObject({ status: 'succeeded', input: null, output: null, client_id })
    expect(task.log_pruned_at).not.toBeNull()
    expect((await app.events(task_id)).at(-1)?.event).toBe('task.finished')
    expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    expect((await other.portal('GET', 'me')).status).toBe(200)
    expect((await app.call('GET', `/v1/tasks/${other.task_id}`)).body.input).not.toBeNull()
  })

  test('the counters of its messages and sign-in links are deleted', async () => {
    const app = await openChannelApp(store)
    const { client_id, thread_id, portal } = await openPortal(app, `${CANARY}@example.com`)
    await app.call('POST', '/v1/portal/links', { email: `${CANARY}@example.com` }, { key: null })
    await portal('POST', `threads/${thread_id}/messages`, { body: 'Hello' })
    expect(await findInDatabase(app, CANARY)).toContain('login_failures')
    expect(await findInDatabase(app, `sender:${client_id}`.toLowerCase())).toContain('login_failures')
    expect((await app.call('POST', `/v1/clients/${client_id}/erase`)).status).toBe(200)
    expect(await findInDatabase(app, CANARY)).toEqual([])
    expect(await findInDatabase(app, `sender:${client_id}`.toLowerCase())).toEqual([])
  })

  test('a run that waits for an approval ends, and its conversation, payload and state are deleted', async () => {
    const app = await openGatedApp(store, gatedWedgeFiles('gate'))
    const clientId = await createAndGetId(app, '/v1/clients', { display_name: 'Ada' })
    const task = await startAction(app, { payload: { text: CANARY } })
    const approval = await requestedApprovalId(app, task.id)
    await createAndGetId(app, `/v1/approvals/${approval}/comments`, { body: `Is it about ${CANARY}?` })
    await app.ctx.store.transact((db) =>
      db.updateTable('tasks').set({ client_id: clientId }).where('id', '=', task.id).execute(),
    )
    const { body } = await app.call('POST', `/v1/clients/${clientId}/erase`)
    expect(body.erased).toMatchObject({ tasks: 1 })
    expect(await findInDatabase(app, CANARY)).toEqual([])
    expect((await app.call('GET', `/v1/tasks/${task.id}`)).body.status).toBe('rejected')
    expect((await app.call('GET', `/v1/approvals/${approval}`)).body).toMatchObject({ status: 'rejected', preview: {} })
    expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    await app.stop()
    await app.outside.close()
  })

  test('the answer to an action that is in progress is not stored', async () => {
    const app = await openMcpApp(store, { echo: 'ask' })
    const clientId = await createAndGetId(app, '/v1/clients', { display_name: 'Ada' })
    const { id } = await startCall(app, 'act')
    const { approval_id } = await pendingApproval(app, id)
    await app.ctx.store.transact((db) =>
      db.updateTable('tasks').set({ client_id: clientId }).where('id', '=', id).execute(),
    )
    const called = new Promise<ToolCall>((resolve) => {
      app.server.onCall = resolve
    })
    await app.call('POST', `/v1/approvals/${approval_id}/approve`, {})
    const { respond } = await called
    expect((await app.call('POST', `/v1/clients/${clientId}/erase`)).status).toBe(200)
    respond({ result: { isError: true, content: [{ type: 'text', text: CANARY }] } })
    // The end of the session follows the outcome.
    await expect.poll(() => methodsOf(app.server).at(-1)).toBe('DELETE')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect((await app.ctx.db.selectFrom('effects').select('outcome').execute())[0]).toEqual({ outcome: 'unknown' })
    expect(await findInDatabase(app, CANARY)).toEqual([])
  })

  test('only an admin of the project can erase a client', async () => {
    const app = await openChannelApp(store)
    const clientId = await createAndGetId(app, '/v1/clients', { display_name: 'Ada' })
    const operator = (await app.call('POST', '/v1/keys', { name: 'operator', role: 'operator' })).body.key
    const erase = (key: string | undefined) =>
      app.call('POST', `/v1/clients/${clientId}/erase`, undefined, key === undefined ? {} : { key })
    expect((await erase(operator)).status).toBe(403)
    expect((await erase(await otherOrganisationSession(app))).status).toBe(404)
    expect((await erase(undefined)).status).toBe(200)
    expect((await erase(undefined)).status).toBe(404)
  })
})
