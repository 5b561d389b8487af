import { expect, test } from 'vitest'
import { expireDueApprovals } from '../../../src/approvals/lifecycle/expire-approvals.ts'
import { anyStore } from '../../app.ts'
import { openConversationApp } from './conversation-app.ts'

anyStore((store) => {
  test('a draft that is rejected after a person has answered leaves the conversation answered', async () => {
    const app = await openConversationApp(store)
    const first = (await app.deliver(7, 'Where is it?')).body
    const draft = await app.pendingApproval(first.thread_id)
    await app.call('POST', `/v1/threads/${first.thread_id}/messages`, { body: 'It arrives today.' })
    expect((await app.call('POST', `/v1/approvals/${draft}/reject`, {})).status).toBe(200)
    await app.finished(first.task_id)
    expect((await app.thread(first.thread_id)).unanswered).toBeNull()
    // The answer was about the first message only.
    const second = (await app.deliver(7, 'And the other one?')).body
    await app.call('POST', `/v1/approvals/${await app.pendingApproval(first.thread_id)}/reject`, {})
    await app.finished(second.task_id)
    const rejected = { reason: 'rejected', task_id: second.task_id }
    expect((await app.thread(first.thread_id)).unanswered).toMatchObject(rejected)
  })

  test('a conversation that is closed does not wait for an answer', async () => {
    const app = await openConversationApp(store)
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    await app.call('POST', `/v1/approvals/${await app.pendingApproval(thread_id)}/reject`, {})
    await app.finished(task_id)
    expect((await app.thread(thread_id)).unanswered).not.toBeNull()
    expect(await app.change(thread_id, { status: 'closed' })).toMatchObject({ status: 'closed', unanswered: null })
    expect((await app.call('GET', '/v1/threads?unanswered=true')).body.data).toEqual([])
  })

  test('closing a conversation cancels its tasks and withdraws the draft, and it can be opened again', async () => {
    const app = await openConversationApp(store)
    const first = (await app.deliver(7, 'One')).body
    const draft = await app.pendingApproval(first.thread_id)
    const second = (await app.deliver(7, 'Two')).body
    expect(await app.change(first.thread_id, { status: 'closed' })).toMatchObject({ unanswered: null })
    expect(await app.finished(first.task_id)).toMatchObject({ status: 'rejected' })
    expect(await app.finished(second.task_id)).toMatchObject({ status: 'cancelled' })
    expect((await app.call('GET', `/v1/approvals/${draft}`)).body.status).toBe('rejected')
    const closed = await app.thread(first.thread_id)
    expect(closed).toMatchObject({ status: 'closed', pending: [], unanswered: null })
    await app.change(first.thread_id, { status: 'open' })
    const third = (await app.deliver(7, 'Three')).body
    expect(third.thread_id).toBe(first.thread_id)
    await app.call('POST', `/v1/approvals/${await app.pendingApproval(first.thread_id)}/approve`)
    await app.finished(third.task_id)
    expect(app.sentTexts()).toEqual(['You wrote: Three'])
  })

  test('a decision about a draft marks the messages that it answers as read', async () => {
    const app = await openConversationApp(store)
    const { task_id, thread_id } = (await app.deliver(7, 'Hello')).body
    const draft = await app.pendingApproval(thread_id)
    await app.deliver(7, 'Are you there?')
    expect((await app.thread(thread_id)).unread).toBe(2)
    await app.call('POST', `/v1/approvals/${draft}/approve`, {})
    await app.finished(task_id)
    expect((await app.thread(thread_id)).unread).toBe(1)
  })

  test('the list of what needs a person has the conversation of a draft', async () => {
    const app = await openConversationApp(store)
    const { thread_id } = (await app.deliver(7, 'Hello')).body
    const id = await app.pendingApproval(thread_id)
    const thread = { id: thread_id, subject: null, client_name: 'Ada', adapter: 'telegram' }
    expect((await app.call('GET', '/v1/needs-you')).body.data).toMatchObject([{ kind: 'approval', id, thread }])
  })

  test('the notice about a draft that expired is in the language of the brand and is not sent', async () => {
    const app = await openConversationApp(store)
    await app.call('PUT', '/v1/brand', { language: 'de' })
    const { task_id, thread_id } = (await app.deliver(7, 'Hallo')).body
    const id = await app.pendingApproval(thread_id)
    await app.ctx.db
      .updateTable('approvals')
      .set({ expires_at: new Date(app.clock.now() - 1).toISOString() })
      .where('id', '=', id)
      .execute()
    await expireDueApprovals(app.ctx)
    expect(await app.finished(task_id)).toMatchObject({ status: 'expired' })
    const { messages, unanswered } = await app.thread(thread_id)
    expect(unanswered).toMatchObject({ reason: 'expired' })
    const body = expect.stringMatching(/^Es tut uns leid/)
    expect(messages.at(-1)).toMatchObject({ direction: 'outbound', body, delivery: null, is_automatic: true })
    expect(app.sentTexts()).toEqual([])
  })
})
