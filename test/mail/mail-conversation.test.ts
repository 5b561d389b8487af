import { describe, expect, test } from 'vitest'
import { mailServerProblem } from '../../scripts/machine.mjs'
import { parseMime } from '../../src/customers/channels/parsers/mime-mail.ts'
import { findHeader } from '../../src/customers/channels/mail/mail-headers.ts'
import { anyStore } from '../stores.ts'
import { deliverMail, type MailboxApp, mailboxApp, passTimeUntil, readThread, threadsUntil } from './mailbox-app.ts'

const problem = mailServerProblem()

interface ShownMessage {
  direction: string
  body: string
  delivery: string | null
  delivery_error: string | null
  is_automatic: boolean
}

/** The only thread, once a condition holds for its messages. */
async function messagesUntil(app: MailboxApp, isDone: (messages: ShownMessage[]) => boolean): Promise<ShownMessage[]> {
  let messages: ShownMessage[] = []
  await passTimeUntil(app, async () => {
    const [thread] = (await app.call('GET', '/v1/threads')).body.data
    messages = thread ? (await readThread(app, thread.id)).messages : []
    return isDone(messages)
  })
  return messages
}

const isSent = (messages: ShownMessage[], count: number) =>
  messages.filter(({ delivery }) => delivery === 'sent').length >= count

async function readReceived(app: MailboxApp, count: number) {
  const mails = await app.server.receivedMail(count, 'kim@test.example')
  const parsed = await Promise.all(mails.map((raw) => parseMime(Buffer.from(raw, 'latin1'))))
  return parsed.map((mail) => {
    const [id, inReplyTo, references, replyTo, submitted] = [
      'message-id',
      'in-reply-to',
      'references',
      'reply-to',
      'auto-submitted',
    ].map((name) => findHeader(mail.headers, name))
    return { text: mail.text?.trim(), subject: mail.subject, id, inReplyTo, references, replyTo, submitted, mail }
  })
}

describe.skipIf(problem !== null)(`mail conversations${problem === null ? '' : ` (skipped: ${problem})`}`, () => {
  anyStore((store) => {
    test('the reply lands in the mailbox of the sender, and their answer in the same thread', async () => {
      const app = await mailboxApp(store)
      const attachments = [{ filename: 'photo.png', content: Buffer.alloc(100), contentType: 'image/png' }]
      await deliverMail(app.server, { subject: 'Order', text: 'Where?', messageId: '<k1@test.example>', attachments })
      await messagesUntil(app, (messages) => isSent(messages, 1))
      const [first] = await readReceived(app, 1)
      expect(first).toMatchObject({
        text: 'You wrote: Where?',
        subject: 'Re: Order',
        inReplyTo: '<k1@test.example>',
        references: '<k1@test.example>',
        replyTo: expect.stringMatching(/^agent\+t_[0-9a-f]{32}@test\.example$/),
        submitted: 'auto-replied',
        id: expect.stringMatching(/^<apr_[^@]+@test\.example>$/),
      })
      expect(first?.mail.from).toEqual({ name: 'Desk', address: 'agent@test.example' })
      // The client changes the subject and has lost the headers: only the reply address leads to the thread.
      const quoted = `Still not.\n\nOn Monday, Desk wrote:\n> ${first?.text}\n`
      await deliverMail(app.server, { to: first?.replyTo ?? '', subject: 'Hello', text: quoted })
      const messages = await messagesUntil(app, (all) => isSent(all, 2))
      expect(messages.map(({ direction, body }) => [direction, body])).toEqual([
        ['inbound', 'Where?'],
        ['outbound', 'You wrote: Where?'],
        ['inbound', 'Still not.'],
        ['outbound', 'You wrote: Still not.'],
      ])
      const [, second] = await readReceived(app, 2)
      expect(second?.references).toContain(`<k1@test.example> ${first?.id}`)
      expect(await threadsUntil(app, () => true)).toHaveLength(1)
    })
  })

  test('an answer of a member is sent at once, with its file as an attachment', async () => {
    const app = await mailboxApp('sqlite')
    await deliverMail(app.server, { subject: 'Order', text: 'Where?', messageId: '<k1@test.example>' })
    await messagesUntil(app, (messages) => isSent(messages, 1))
    const [thread] = (await app.call('GET', '/v1/threads')).body.data
    const upload = await fetch(`${app.url}/v1/files?name=bill.txt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.key}`, 'content-type': 'text/plain' },
      body: 'five euros',
    })
    const file: { id: string } = JSON.parse(await upload.text())
    const answer = { body: 'Here is the bill.', files: [file.id] }
    const sent = await app.call('POST', `/v1/threads/${thread.id}/messages`, answer)
    expect(sent).toMatchObject({ status: 201, body: { delivery: 'sent', files: [{ name: 'bill.txt' }] } })
    const mail = (await readReceived(app, 2)).find(({ text }) => text === 'Here is the bill.')
    expect(mail).toMatchObject({ inReplyTo: '<k1@test.example>', subject: 'Re: Order' })
    const [attachment] = mail?.mail.files ?? []
    expect(attachment).toMatchObject({ name: 'bill.txt', contentType: 'text/plain' })
    expect(Buffer.from(attachment?.bytes ?? []).toString()).toBe('five euros')
  })

  test("an automatic reply to the service's answer ends the exchange", async () => {
    const app = await mailboxApp('sqlite')
    await deliverMail(app.server, { subject: 'Order', text: 'Where?', messageId: '<k1@test.example>' })
    await messagesUntil(app, (messages) => isSent(messages, 1))
    const [answer] = await readReceived(app, 1)
    const headers = { 'Auto-Submitted': 'auto-replied' }
    const absence = { to: answer?.replyTo ?? '', inReplyTo: answer?.id ?? '', text: 'I am away.', headers }
    await deliverMail(app.server, { subject: 'Automatic reply: Re: Order', ...absence })
    await deliverMail(app.server, { subject: 'Order', text: 'Are you there?', messageId: '<k2@test.example>' })
    const messages = await messagesUntil(app, (all) => isSent(all, 2))
    expect(messages.map(({ body }) => body)).toEqual([
      'Where?',
      'You wrote: Where?',
      'I am away.',
      'Are you there?',
      'You wrote: Are you there?',
    ])
    expect(messages.map(({ is_automatic }) => is_automatic)).toEqual([false, false, true, false, false])
    expect((await readReceived(app, 2)).map(({ text }) => text)).toEqual([
      'You wrote: Where?',
      'You wrote: Are you there?',
    ])
  })

  anyStore((store) => {
    test('an answer that bounces is marked, the client waits, and nothing loops', async () => {
      const app = await mailboxApp(store)
      await deliverMail(app.server, { from: 'Gone <gone@test.example>', subject: 'Order', text: 'Where?' })
      const messages = await messagesUntil(app, (all) => all.some(({ delivery }) => delivery === 'failed'))
      expect(messages).toMatchObject([
        { direction: 'inbound', body: 'Where?' },
        { direction: 'outbound', delivery: 'failed', delivery_error: expect.stringContaining('no outside mail') },
      ])
      const [thread] = (await app.call('GET', '/v1/threads?unanswered=true')).body.data
      expect(thread).toMatchObject({ unanswered: { reason: 'not_delivered' } })
      expect((await app.call('GET', '/v1/clients')).body.data).toHaveLength(1)
      expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1)
    })
  })
})
