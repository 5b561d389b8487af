import { expect, test } from 'vitest'
import { deleteExpiredRows } from '../../../src/automation/retention/delete-expired-rows.ts'
import { receiveMessage } from '../../../src/customers/channels/receive-message.ts'
import { findChannelUnscoped } from '../../../src/customers/channels/rows.ts'
import { SYSTEM_ACTOR } from '../../../src/platform/ctx/scope.ts'
import { anyStore, eachStore } from '../../app.ts'
import type { StoreKind } from '../../stores.ts'
import { createAndGetId, openChannelApp, openPortal } from './channel-app.ts'

const PASSWORD = 'the-password'
const LIMITS = { SVC_SENDER_RATE_PER_HOUR: '3', SVC_DOMAIN_RATE_PER_HOUR: '5' }

/** A service with a Postmark channel. Each mail has a subject of its own, so it opens a thread. Postmark proves no sender. */
async function openMailChannel(store: StoreKind) {
  const app = await openChannelApp(store, 'desk', LIMITS)
  const binding = { connection_id: app.connection, address: 'help@shop.example', wedge: 'desk', task_type: 'triage' }
  const channel = await createAndGetId(app, '/v1/channels', { ...binding, adapter: 'postmark' })
  await app.call('POST', `/v1/channels/${channel}/secret`, { value: PASSWORD })
  let mails = 0
  const deliver = async (Email: string, more: object = {}) => {
    const Headers = [{ Name: 'Message-ID', Value: `<${++mails}@example.com>` }]
    const mail = { FromFull: { Email }, Subject: `Mail ${mails}`, TextBody: `Text ${mails}`, Headers, ...more }
    const authorization = `Basic ${Buffer.from(`any:${PASSWORD}`).toString('base64')}`
    const raw = JSON.stringify(mail)
    const { status, body } = await app.call('POST', `/v1/hooks/${channel}`, undefined, {
      key: null,
      headers: { authorization, 'content-type': 'application/json' },
      raw,
    })
    expect(status).toBe(200)
    return body
  }
  /** A mail whose sender the mail server has proved, unless the arguments say something else. */
  const deliverProved = async (handle: string, more: object = {}) => {
    const channelRow = (await findChannelUnscoped(app.ctx.db, channel)) ?? expect.fail()
    const proof = { senderProof: 'required', verdict: { dmarc: 'pass' } } as const
    const keys = { conversationKey: `${++mails}`, externalId: `${mails}`, address: {}, fileIds: [] }
    const message = { from: { handle, name: null }, body: 'x', subject: null, ...keys, ...proof, ...more }
    return (await receiveMessage(app.ctx, SYSTEM_ACTOR, channelRow, message)).delivered
  }
  const thread = async (id: string) => (await app.call('GET', `/v1/threads/${id}`)).body
  return { ...app, channel, deliver, deliverProved, thread }
}

type MailChannel = Awaited<ReturnType<typeof openMailChannel>>

/** The reasons for which the threads of these mails wait for a person; null: a task was started. */
async function reasonsOf(app: MailChannel, senders: string[]): Promise<(string | null)[]> {
  const reasons = []
  for (const sender of senders) {
    const { task_id, thread_id } = await app.deliverProved(sender)
    reasons.push(task_id === null ? (await app.thread(thread_id)).unanswered?.reason : null)
  }
  return reasons
}

anyStore((store) => {
  test('the mails of one sender start a limited number of tasks, whatever their subjects are', async () => {
    const app = await openMailChannel(store)
    const six = Array.from({ length: 6 }, () => 'kim@example.com')
    const waits = 'too_many_messages'
    expect(await reasonsOf(app, six)).toEqual([null, null, null, waits, waits, waits])
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(3)
    expect(await reasonsOf(app, ['lee@example.com'])).toEqual([null])
    app.clock.jump(1_800_000)
    expect(await reasonsOf(app, six)).toEqual(six.map(() => waits))
    // The messages that wait do not count, so the sender may write again an hour after those that started tasks.
    app.clock.jump(1_800_001)
    expect(await reasonsOf(app, ['kim@example.com'])).toEqual([null])
  })

  test('unknown senders of one domain share a limit, which people whom the team knows do not use up', async () => {
    const app = await openMailChannel(store)
    const known = await app.deliver('known@mail.example')
    await app.call('POST', `/v1/threads/${known.thread_id}/messages`, { body: 'Hello' })
    // The fourth mail of a sender is beyond its own limit, and does not count for the domain.
    const one = Array.from({ length: 4 }, () => 'a@mail.example')
    expect(await reasonsOf(app, one)).toEqual([null, null, null, 'too_many_messages'])
    expect(await reasonsOf(app, ['b@mail.example', 'c@a.mail.example', 'd@b.mail.example'])).toEqual([
      null,
      null,
      'too_many_from_domain',
    ])
    expect(await reasonsOf(app, ['known@mail.example', 'a@other.example'])).toEqual([null, null])
  })

  test('mails that may be forged have limits of their own, for their sender and for their channel', async () => {
    const app = await openMailChannel(store)
    const reasonOf = async ({ thread_id }: { thread_id: string }) => (await app.thread(thread_id)).unanswered?.reason
    const { thread_id, client_id } = await app.deliver('kim@example.com')
    for (let n = 1; n < 3; n++) expect((await app.deliver('kim@example.com')).task_id).not.toBeNull()
    expect(await reasonOf(await app.deliver('kim@example.com'))).toBe('too_many_messages')
    for (const sender of ['lee', 'sam']) expect((await app.deliver(`${sender}@example.com`)).task_id).not.toBeNull()
    expect(await reasonOf(await app.deliver('lee@example.com'))).toBe('too_many_unproved')
    expect(await reasonsOf(app, ['kim@example.com', 'pat@example.com'])).toEqual([null, null])
    const { body: link } = await app.call('POST', `/v1/clients/${client_id}/portal-link`)
    const { body: session } = await app.call('POST', '/v1/portal/session', { token: link.token }, { key: null })
    const path = `/v1/portal/threads/${thread_id}/messages`
    expect((await app.call('POST', path, { body: 'Hi' }, { key: session.session_token })).status).toBe(201)
    expect((await app.thread(thread_id)).messages.at(-1).task_id).not.toBeNull()
    const ofThread = app.ctx.db.selectFrom('threads').select('reply_token').where('id', '=', thread_id)
    const { reply_token } = await ofThread.executeTakeFirstOrThrow()
    const answer = await app.deliver('kim@example.com', { OriginalRecipient: `help+t_${reply_token}@shop.example` })
    expect(answer).toMatchObject({ thread_id, task_id: expect.any(String) })
  })

  test('a verdict proves only the address in From', async () => {
    const app = await openMailChannel(store)
    const startsTask = async (senderProof: 'required' | 'failed', dmarc: string) =>
      (await app.deliverProved('kim@example.com', { senderProof, verdict: { dmarc } })).task_id !== null
    const started = []
    // The verdict of a mail whose sender is in Reply-To is about another address.
    for (let n = 0; n < 4; n++) started.push(await startsTask('failed', 'pass'))
    expect(started).toEqual([true, true, true, false])
    expect(await startsTask('required', 'none')).toBe(false)
    expect(await startsTask('required', 'pass')).toBe(true)
  })

  test('subdomains share the limit of their domain, however short its name is', async () => {
    const app = await openMailChannel(store)
    const senders = Array.from({ length: 6 }, (_, n) => `a@r${n}.abc.xyz`)
    expect(await reasonsOf(app, senders)).toEqual([null, null, null, null, null, 'too_many_from_domain'])
    const others = Array.from({ length: 6 }, (_, n) => `a@shop${n}.co.uk`)
    expect(await reasonsOf(app, others)).toEqual(others.map(() => null))
  })

  test('a message that waits says why, also in a conversation whose task has failed', async () => {
    const app = await openMailChannel(store)
    const first = await app.deliver('kim@example.com', { Subject: 'Order' })
    expect((await app.finished(first.task_id)).status).toBe('failed')
    const failed = (await app.thread(first.thread_id)).unanswered
    expect(failed).toMatchObject({ reason: 'failed', task_id: first.task_id })
    for (let n = 0; n < 2; n++) await app.deliver('kim@example.com')
    expect(await app.deliver('kim@example.com', { Subject: 'Re: Order' })).toMatchObject({ task_id: null })
    const { unanswered } = await app.thread(first.thread_id)
    expect(unanswered).toEqual({ ...failed, reason: 'too_many_messages', task_id: null })
    expect((await app.call('POST', `/v1/threads/${first.thread_id}/tasks`)).status).toBe(201)
  })

  test('the task of messages that wait is unverified if one of them is', async () => {
    const app = await openMailChannel(store)
    for (let n = 0; n < 3; n++) await app.deliver('kim@example.com')
    const { thread_id } = await app.deliver('kim@example.com', { Subject: 'Order', TextBody: 'One' })
    const Headers = [
      { Name: 'Message-ID', Value: '<forged@example.com>' },
      { Name: 'Received-SPF', Value: 'Fail' },
    ]
    await app.deliver('kim@example.com', { Subject: 'Re: Order', TextBody: 'Two', Headers })
    const { input } = (await app.call('POST', `/v1/threads/${thread_id}/tasks`)).body
    expect(input).toMatchObject({ unverified: true, messages: [{ body: 'One' }, { body: 'Two', unverified: true }] })
    expect(input.messages[0]).not.toHaveProperty('unverified')
  })

  test('messages of the portal count, also on a channel to which a server posts', async () => {
    const app = await openChannelApp(store, 'desk', LIMITS)
    const { thread_id, portal } = await openPortal(app, 'kim@example.com')
    const tasks = []
    for (let n = 0; n < 4; n++) {
      expect((await portal('POST', `threads/${thread_id}/messages`, { body: `${n}` })).status).toBe(201)
      tasks.push((await app.call('GET', `/v1/threads/${thread_id}`)).body.messages.at(-1).task_id)
    }
    expect(tasks).toEqual([expect.any(String), expect.any(String), expect.any(String), null])
  })

  test('the counters are deleted when they count no more', async () => {
    const app = await openMailChannel(store)
    await app.deliverProved('kim@example.com')
    const count = async () => (await app.ctx.db.selectFrom('login_failures').select('subject').execute()).length
    expect(await count()).toBe(2)
    app.clock.jump(3_600_001)
    await deleteExpiredRows(app.ctx)
    expect(await count()).toBe(0)
  })

  test('messages that a server posts to /inbound have no limit for their sender', async () => {
    const app = await openMailChannel(store)
    for (let n = 0; n < 5; n++) {
      const message = { from: { handle: 'kim@example.com' }, body: 'x', subject: `${n}` }
      const channel = await createAndGetId(app, '/v1/channels', {
        connection_id: app.connection,
        address: `a${n}`,
        wedge: 'desk',
        task_type: 'triage',
      })
      const { body } = await app.call('POST', `/v1/channels/${channel}/inbound`, message)
      expect(body.task_id).not.toBeNull()
    }
  })
})

eachStore((store) => {
  test('the team starts one task for the messages that wait, once', async () => {
    const app = await openMailChannel(store)
    for (let n = 0; n < 3; n++) await app.deliver('kim@example.com')
    const Attachments = [{ Name: 'a.txt', ContentType: 'text/plain', Content: 'YQ==' }]
    const { thread_id } = await app.deliver('kim@example.com', { Subject: 'Order', TextBody: 'One', Attachments })
    await app.deliver('kim@example.com', { Subject: 'Re: Order', TextBody: 'Two' })
    const start = () => app.call('POST', `/v1/threads/${thread_id}/tasks`)
    await app.call('PUT', `/v1/threads/${thread_id}`, { held_by: 'me' })
    expect((await start()).body.error).toBe('a person has taken the conversation over: give it back first')
    await app.call('PUT', `/v1/threads/${thread_id}`, { held_by: null })
    const started = (await Promise.all([start(), start(), start()])).toSorted((a, b) => a.status - b.status)
    expect(started.map(({ status }) => status)).toEqual([201, 409, 409])
    const { body: task } = started[0] ?? expect.fail()
    expect(task).toMatchObject({
      thread_id,
      input: { body: 'One\n\nTwo', messages: [{ body: 'One' }, { body: 'Two' }] },
      files: [{ name: 'a.txt' }],
    })
    const { messages } = await app.thread(thread_id)
    expect(messages.map((message: { task_id: string }) => message.task_id)).toEqual([task.id, task.id])
    expect((await app.finished(task.id)).status).toBe('failed')
    expect((await start()).status).toBe(409)
  })
})
