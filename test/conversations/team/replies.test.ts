import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { respondJson } from '../../fake-upstream.ts'
import { type ConversationApp, openConversationApp } from './conversation-app.ts'

anyStore((store) => {
  test('the reply of a run waits at the gate, and what is approved is sent once, the way the message came', async () => {
    const app = await openConversationApp(store)
    const received = await app.deliver(7, 'Where is it?')
    expect(received).toMatchObject({ status: 200, body: { ok: true, task_id: expect.stringMatching(/^task_/) } })
    const { task_id, thread_id } = received.body
    const id = await app.pendingApproval(thread_id)
    const approval = (await app.call('GET', `/v1/approvals/${id}`)).body
    expect(approval).toMatchObject({ action: 'bot:reply', path: 'action', connection: 'bot' })
    expect(approval.payload ?? approval.preview).toEqual({ chat_id: 7, text: 'You wrote: Where is it?' })
    expect(app.sentTexts()).toEqual([])
    await app.call('POST', `/v1/approvals/${id}/approve`, { edited: { text: 'It is on its way.' } })
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'It is on its way.' } })
    expect(app.provider.received.map(({ body }) => JSON.parse(body))).toEqual([
      { chat_id: 7, text: 'It is on its way.' },
    ])
    const thread = await app.thread(thread_id)
    expect(thread).toMatchObject({ unanswered: null, pending: [], message_count: 2, channel: { adapter: 'telegram' } })
    expect(thread.messages[1]).toMatchObject({
      direction: 'outbound',
      body: 'It is on its way.',
      delivery: 'sent',
      task_id,
      author: null,
    })
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('an edit that the channel cannot send is refused, and the approval still waits', async () => {
    const app = await openConversationApp(store)
    const { thread_id } = (await app.deliver(7, 'Hello')).body
    const id = await app.pendingApproval(thread_id)
    const edit = (edited: object) => app.call('POST', `/v1/approvals/${id}/approve`, { edited })
    expect((await edit({ chat_id: 'another' })).status).toBe(400)
    expect((await edit({ text: '  ' })).status).toBe(400)
    expect((await edit({ text: 'a'.repeat(4097) })).body.error).toContain('must have at most 4096 characters')
    expect((await app.thread(thread_id)).pending).toEqual([id])
  })

  test('a reply that is too long for the channel is never asked for', async () => {
    const app = await openConversationApp(store)
    const { task_id } = (await app.deliver(7, 'a'.repeat(4090))).body
    expect(await app.finished(task_id)).toMatchObject({ status: 'failed' })
    expect((await app.call('GET', `/v1/approvals?task_id=${task_id}`)).body.data).toEqual([])
    expect(app.sentTexts()).toEqual([])
  })

  test('a message in the portal of a channel with an adapter is answered there, after an approval', async () => {
    const app = await openConversationApp(store)
    const { client_id, thread_id, task_id } = (await app.deliver(7, 'Hello')).body
    await app.call('POST', `/v1/tasks/${task_id}/cancel`)
    await app.change(thread_id, { status: 'closed' })
    const portalThread = await writeInPortal(app, client_id, 'Hello from the portal')
    const id = await app.pendingApproval(portalThread)
    const { body: approval } = await app.call('GET', `/v1/approvals/${id}`)
    expect(approval).toMatchObject({
      action: 'portal:reply',
      connection: null,
      text: 'Reply to Ada in the portal',
      preview: { text: 'You wrote: Hello from the portal' },
    })
    await app.call('POST', `/v1/approvals/${id}/approve`)
    await app.finished(approval.task_id)
    expect(app.sentTexts()).toEqual([])
    const { messages } = await app.thread(portalThread)
    expect(messages.at(-1)).toMatchObject({ body: 'You wrote: Hello from the portal', delivery: 'sent' })
  })

  test('a reply that is sent back goes to the model with the note, and the next text is asked for again', async () => {
    const app = await openConversationApp(store)
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    const first = await app.pendingApproval(thread_id)
    await app.call('POST', `/v1/approvals/${first}/revise`, { note: 'More politely.' })
    const second = await app.pendingApproval(thread_id)
    expect(second).not.toBe(first)
    await app.call('POST', `/v1/approvals/${second}/approve`)
    expect(await app.finished(task_id)).toMatchObject({ output: { reply: 'Dear client, you wrote: Hello' } })
    expect(app.sentTexts()).toEqual(['Dear client, you wrote: Hello'])
  })

  test('a rejected reply ends the task, and the client is marked as unanswered until a person answers', async () => {
    const app = await openConversationApp(store)
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    await app.call('POST', `/v1/approvals/${await app.pendingApproval(thread_id)}/reject`)
    expect(await app.finished(task_id)).toMatchObject({ status: 'rejected' })
    expect((await app.thread(thread_id)).unanswered).toMatchObject({ reason: 'rejected', task_id })
    const listed = await app.call('GET', '/v1/threads?unanswered=true')
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([thread_id])
    const answer = await app.call('POST', `/v1/threads/${thread_id}/messages`, { body: 'I am here.' })
    expect(answer).toMatchObject({ status: 201, body: { delivery: 'sent', author: { kind: 'key' }, task_id: null } })
    expect(app.sentTexts()).toEqual(['I am here.'])
    expect(await app.thread(thread_id)).toMatchObject({ unanswered: null, unread: 0 })
    const effects = await app.ctx.db.selectFrom('effects').selectAll().execute()
    expect(effects).toMatchObject([
      { id: answer.body.id, message_id: answer.body.id, task_id: null, action: 'bot:reply', outcome: 'ok' },
    ])
  })

  test('a rule may approve replies, but not while a person has the conversation', async () => {
    const app = await openConversationApp(store, { wedge: 'open', taskType: 'slow' })
    const reads: (() => void)[] = []
    const { respond } = app.provider
    app.provider.respond = (received, response) =>
      received.method === 'GET' ? void reads.push(() => respondJson(response, 200, {})) : respond(received, response)
    const first = (await app.deliver(7, 'One')).body
    await expect.poll(() => reads.length).toBe(1)
    await app.change(first.thread_id, { held_by: 'me' })
    reads[0]?.()
    const approval = await app.pendingApproval(first.thread_id)
    expect((await app.call('GET', `/v1/approvals/${approval}`)).body).toMatchObject({
      status: 'pending',
      policy_reason: 'a person has taken the conversation over',
    })
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    await app.finished(first.task_id)
    expect(app.sentTexts()).toEqual(['You wrote: One'])
    expect((await app.deliver(7, 'Two')).body).toEqual({ ...first, task_id: null })
    expect(await app.thread(first.thread_id)).toMatchObject({
      held_by: { kind: 'key' },
      unanswered: { reason: 'held' },
    })
    expect((await app.call('POST', `/v1/tasks/${first.task_id}/retry`)).status).toBe(409)
    await app.change(first.thread_id, { held_by: null })
    const third = (await app.deliver(7, 'Three')).body
    await expect.poll(() => reads.length).toBe(2)
    reads[1]?.()
    await app.finished(third.task_id)
    expect(app.sentTexts()).toEqual(['You wrote: One', 'You wrote: Three'])
    // The second message has no answer yet.
    expect(await app.thread(first.thread_id)).toMatchObject({ held_by: null, unanswered: { reason: 'held' } })
  })

  test('a text that the agent has sent with the tool is not sent again with its output', async () => {
    const app = await openConversationApp(store, { taskType: 'tool' })
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    await app.call('POST', `/v1/approvals/${await app.pendingApproval(thread_id)}/approve`)
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'Sent by the tool' } })
    expect(app.sentTexts()).toEqual(['Sent by the tool'])
    expect((await app.thread(thread_id)).message_count).toBe(2)
  })

  test('a reply that the provider refuses is shown as failed, and the client is unanswered', async () => {
    const app = await openConversationApp(store, { wedge: 'open' })
    app.provider.respond = (_, response) =>
      respondJson(response, 403, { ok: false, description: 'blocked by the user' })
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded' })
    const thread = await app.thread(thread_id)
    expect(thread.unanswered).toMatchObject({ reason: 'not_delivered', task_id })
    expect(thread.messages[1]).toMatchObject({ delivery: 'failed', delivery_error: expect.stringContaining('blocked') })
    expect(app.provider.received).toHaveLength(1)
    await app.change(thread_id, { unanswered: false })
    expect((await app.thread(thread_id)).unanswered).toBeNull()
  })
})

/** A new conversation of the client in the portal, on the channel of the app. */
async function writeInPortal(app: ConversationApp, clientId: string, body: string): Promise<string> {
  await app.call('PUT', '/v1/brand', { portal_channel_id: app.channel })
  const link = await app.call('POST', `/v1/clients/${clientId}/portal-link`)
  const session = await app.call('POST', '/v1/portal/session', { token: link.body.token }, { key: null })
  const key: string = session.body.session_token
  const { body: thread } = await app.call('POST', '/v1/portal/threads', { body }, { key })
  return thread.id
}
