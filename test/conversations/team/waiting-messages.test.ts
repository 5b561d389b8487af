import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { openConversationApp } from './conversation-app.ts'

const ONE_TASK_PER_HOUR = { env: { SVC_SENDER_RATE_PER_HOUR: '1' } }

anyStore((store) => {
  test('a reply of an agent does not remove the mark of a message that waits for a person', async () => {
    const app = await openConversationApp(store, ONE_TASK_PER_HOUR)
    const { task_id, thread_id } = (await app.deliver(7, 'One')).body
    const approval = await app.pendingApproval(thread_id)
    expect((await app.deliver(7, 'Two')).body.task_id).toBeNull()
    const { unanswered } = await app.thread(thread_id)
    expect(unanswered.reason).toBe('too_many_messages')
    await app.clock.advance(1_000)
    await app.call('POST', `/v1/approvals/${approval}/approve`)
    await app.finished(task_id)
    expect(app.sentTexts()).toEqual(['You wrote: One'])
    expect((await app.thread(thread_id)).unanswered).toEqual(unanswered)
    const started = await app.call('POST', `/v1/threads/${thread_id}/tasks`)
    expect(started.body).toMatchObject({ thread_id, input: { body: 'Two' } })
    expect((await app.thread(thread_id)).unanswered).toBeNull()
  })

  test('a message that a person has answered or dismissed does not wait any more', async () => {
    const app = await openConversationApp(store, ONE_TASK_PER_HOUR)
    const { thread_id } = (await app.deliver(7, 'One')).body
    const start = () => app.call('POST', `/v1/threads/${thread_id}/tasks`)
    await app.deliver(7, 'Two')
    expect((await app.call('POST', `/v1/threads/${thread_id}/messages`, { body: 'Hello' })).status).toBe(201)
    expect((await app.thread(thread_id)).unanswered).toBeNull()
    expect((await start()).status).toBe(409)
    await app.deliver(7, 'Three')
    expect(await app.change(thread_id, { unanswered: false })).toMatchObject({ unanswered: null })
    expect((await start()).status).toBe(409)
    await app.deliver(7, 'Four')
    // As if another replica, whose clock is late, received it.
    app.clock.set(app.clock.now() - 5_000)
    await app.deliver(7, 'Five')
    expect((await start()).body.input).toMatchObject({ body: 'Four\n\nFive' })
  })

  test('a message waits on when a later one starts a task', async () => {
    const app = await openConversationApp(store, { wedge: 'open', ...ONE_TASK_PER_HOUR })
    const first = (await app.deliver(7, 'One')).body
    await app.finished(first.task_id)
    expect((await app.deliver(7, 'Two')).body.task_id).toBeNull()
    app.clock.jump(3_600_001)
    const third = (await app.deliver(7, 'Three')).body
    await app.finished(third.task_id)
    expect(app.sentTexts()).toEqual(['You wrote: One', 'You wrote: Three'])
    const started = await app.call('POST', `/v1/threads/${first.thread_id}/tasks`)
    expect(started.body).toMatchObject({ input: { body: 'Two' } })
  })

  test('messages that are too long for one task start in their order, one task after another', async () => {
    const app = await openConversationApp(store, ONE_TASK_PER_HOUR)
    const { thread_id } = (await app.deliver(7, 'One')).body
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(90_000))
    for (const text of long) await app.deliver(7, text)
    const start = async () => (await app.call('POST', `/v1/threads/${thread_id}/tasks`)).body.input
    expect((await start()).messages).toMatchObject([{ body: long[0] }, { body: long[1] }])
    expect((await app.thread(thread_id)).unanswered).toMatchObject({ reason: 'too_many_messages' })
    expect(await start()).toMatchObject({ body: long[2] })
    expect((await app.thread(thread_id)).unanswered).toBeNull()
  })
})
