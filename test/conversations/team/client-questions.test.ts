import { expect, test } from 'vitest'
import { anyStore, eachStore } from '../../app.ts'
import { type ConversationApp, openConversationApp } from './conversation-app.ts'

const QUESTION = 'Which size?\n\n1. Small\n2. Large'

const openAskingApp = (store: Parameters<typeof openConversationApp>[0], env: Record<string, string> = {}) =>
  openConversationApp(store, { wedge: 'open', taskType: 'ask', env })

/** The question that waits for the client. */
async function waitForQuestion(app: ConversationApp, taskId: string) {
  const path = `/v1/approvals?task_id=${taskId}&path=question&status=pending`
  for (;;) {
    const [question] = (await app.call('GET', path)).body.data
    if (question) return question
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

anyStore((store) => {
  test.each(['large', ' Large ', '2'])(
    'a question goes the way the message came, and "%s" answers it',
    async (text) => {
      const app = await openAskingApp(store)
      const { task_id, thread_id } = (await app.deliver(1, 'A shirt, please')).body
      const question = await waitForQuestion(app, task_id)
      expect(app.sentTexts()).toEqual([QUESTION])
      // Seven days, because the client may read it in the evening.
      expect(Date.parse(question.expires_at) - Date.parse(question.created_at)).toBe(604_800_000)
      expect((await app.deliver(1, text)).body).toMatchObject({ task_id, thread_id })
      expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'You chose Large.' } })
      expect(app.sentTexts()).toEqual([QUESTION, 'You chose Large.'])
      const { messages, unread } = await app.thread(thread_id)
      // The team has read neither of the client's messages.
      expect(unread).toBe(2)
      expect(messages.map(({ body }: { body: string }) => body)).toEqual([
        'A shirt, please',
        QUESTION,
        text,
        'You chose Large.',
      ])
      const { body: decided } = await app.call('GET', `/v1/approvals/${question.approval_id}`)
      expect(decided).toMatchObject({ status: 'approved', edited: { answer: 'Large' }, decided_by: { kind: 'client' } })
      expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
    },
  )

  test('the run may leave its cell meanwhile, and the question is sent once', async () => {
    const app = await openAskingApp(store, { SVC_PARK_AFTER_S: '0' })
    const { task_id } = (await app.deliver(1, 'A shirt, please')).body
    await waitForQuestion(app, task_id)
    await app.deliver(1, 'Small')
    expect(await app.finished(task_id)).toMatchObject({ status: 'succeeded', output: { reply: 'You chose Small.' } })
    expect(app.sentTexts()).toEqual([QUESTION, 'You chose Small.'])
  })

  test('a text that is no answer, and the text of another client, start tasks of their own', async () => {
    const app = await openAskingApp(store)
    const { task_id, thread_id } = (await app.deliver(1, 'A shirt, please')).body
    const { approval_id } = await waitForQuestion(app, task_id)
    const other = (await app.deliver(1, 'Do you have socks?')).body
    expect(other).toMatchObject({ thread_id })
    expect(other.task_id).not.toBe(task_id)
    expect((await app.deliver(2, 'Small')).body.thread_id).not.toBe(thread_id)
    expect((await app.call('GET', `/v1/approvals/${approval_id}`)).body.status).toBe('pending')
  })

  test('a message through /inbound answers too, and its files belong to the client and to the task', async () => {
    const app = await openAskingApp(store)
    const address = { connection_id: app.connection, address: 'help@desk.example' }
    const { body: channel } = await app.call('POST', '/v1/channels', { ...address, wedge: 'open', task_type: 'ask' })
    const send = (body: string, files: string[] = []) =>
      app.call('POST', `/v1/channels/${channel.id}/inbound`, { from: { handle: 'kim@example.com' }, body, files })
    const { task_id, client_id } = (await send('A shirt, please')).body
    const { approval_id } = await waitForQuestion(app, task_id)
    const { body: file } = await app.call('POST', '/v1/files?name=size.txt', undefined, { raw: 'XL' })
    expect((await send('large', [file.id])).body).toMatchObject({ task_id, client_id })
    await app.finished(task_id)
    expect((await app.call('GET', `/v1/approvals/${approval_id}`)).body.edited).toEqual({ answer: 'Large' })
    const [bound] = (await app.call('GET', `/v1/files?client_id=${client_id}`)).body.data
    expect(bound).toMatchObject({ id: file.id })
    const { data } = (await app.call('GET', '/v1/audit?limit=200')).body
    const received = data.filter(({ action }: { action: string }) => action === 'message.received')
    expect(new Set(received.map(({ actor }: { actor: { kind: string } }) => actor.kind))).toEqual(new Set(['key']))
  })

  test('a message waits on when the next one answers a question of the agent', async () => {
    const app = await openAskingApp(store, { SVC_SENDER_RATE_PER_HOUR: '1' })
    const { task_id, thread_id } = (await app.deliver(7, 'A shirt, please')).body
    await waitForQuestion(app, task_id)
    expect((await app.deliver(7, 'Where is my parcel?')).body.task_id).toBeNull()
    expect((await app.deliver(7, 'Small')).body.task_id).toBe(task_id)
    await app.finished(task_id)
    expect(app.sentTexts()).toContain('You chose Small.')
    expect((await app.thread(thread_id)).unanswered).toMatchObject({ reason: 'too_many_messages' })
    const started = await app.call('POST', `/v1/threads/${thread_id}/tasks`)
    expect(started.body).toMatchObject({ input: { body: 'Where is my parcel?' } })
  })

  test('nothing is an answer while a person has the conversation', async () => {
    const app = await openAskingApp(store)
    const { task_id, thread_id } = (await app.deliver(1, 'A shirt, please')).body
    const { approval_id } = await waitForQuestion(app, task_id)
    await app.change(thread_id, { held_by: 'me' })
    expect((await app.deliver(1, 'Small')).body.task_id).toBeNull()
    expect((await app.call('GET', `/v1/approvals/${approval_id}`)).body.status).toBe('pending')
  })
})

eachStore((store) => {
  test('one of many equal deliveries is the answer, and the others change nothing', async () => {
    const app = await openAskingApp(store)
    const { task_id } = (await app.deliver(1, 'A shirt, please')).body
    await waitForQuestion(app, task_id)
    const receipts = await Promise.all(Array.from({ length: 20 }, () => app.deliver(1, 'Small', 77)))
    expect(new Set(receipts.map(({ body }) => body.task_id))).toEqual(new Set([task_id]))
    await app.finished(task_id)
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
  })
})
