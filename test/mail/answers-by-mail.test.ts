import { expect, onTestFinished, test } from 'vitest'
import { createAndGetId } from '../customers/channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { anyStore, type StoreKind } from '../stores.ts'
import { mailApp } from './mail-app.ts'
import { readThread } from './mailbox-app.ts'

const PASSWORD = 'the-password-of-the-webhook'
const PASSED = { spf: 'Pass', dkim: 'DKIM_SIGNED,DKIM_VALID' }
const FAILED = { spf: 'Fail', dkim: 'DKIM_SIGNED,DKIM_INVALID' }

const ASK = {
  call: { tool: 'ask_person', input: { question: 'Transfer the account?', options: ['yes', 'no'], to: 'client' } },
}
const MAX_FILE = { SVC_FILE_MAX_MB: '1' }

const askingWedges = (ask: object) => ({
  'reply/wedge.json': {
    wedge: 'reply',
    connections: ['mail'],
    task_types: { transfer: {} },
    policy: { auto_approve: [{ action: 'mail:reply' }] },
  },
  'reply/rehearsals/transfer.json': [ask, { output: { reply: 'You chose {{last.answer}}.' } }],
})

interface Mail {
  id: string
  text?: string
  from?: string
  replyTo?: string
  to?: string
  subject?: string
  references?: string
  checks?: { spf: string; dkim: string } | null
  file?: { name: string; size: number }
}

/** A service with a Postmark channel, whose client kim@client.example is asked whether to transfer the account. */
async function openAskedApp(store: StoreKind, ask: object = ASK) {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  provider.respond = (_, response) => respondJson(response, 200, { MessageID: 'queued' })
  const config = { provider: 'postmark', base_url: provider.url, from: 'Desk <help@shop.example>' }
  const app = await mailApp(store, config, { secret: 'server-token', wedges: askingWedges(ask), env: MAX_FILE })
  const address = { connection_id: app.connectionId, address: 'help@shop.example', adapter: 'postmark' }
  const binding = { ...address, wedge: 'reply', task_type: 'transfer' }
  const channelId = await createAndGetId(app, '/v1/channels', binding)
  await app.call('POST', `/v1/channels/${channelId}/secret`, { value: PASSWORD })
  const deliver = async (mail: Mail) => {
    const { status, body } = await app.call('POST', `/v1/hooks/${channelId}`, undefined, {
      key: null,
      headers: { authorization: `Basic ${Buffer.from(`any:${PASSWORD}`).toString('base64')}` },
      raw: JSON.stringify(toPostmarkMail(mail)),
    })
    expect(status).toBe(200)
    return body
  }
  const asked = await deliver({ id: 'm1', text: 'Please move my account.', checks: PASSED })
  const path = `/v1/approvals?task_id=${asked.task_id}&path=question&status=pending`
  await expect.poll(async () => (await app.call('GET', path)).body.data).toHaveLength(1)
  const [question] = (await app.call('GET', path)).body.data
  await expect.poll(async () => (await messages())[1]?.delivery).toBe('sent')
  const [{ body: sent } = { body: '' }] = provider.received
  async function messages() {
    return (await readThread(app, asked.thread_id)).messages
  }
  return {
    ...app,
    channelId,
    asked,
    deliver,
    messages,
    /** The address for answers in the thread. */
    replyAddress: String(JSON.parse(sent).ReplyTo),
    questionId: String((await messages())[1].external_id),
    readQuestion: async () => (await app.call('GET', `/v1/approvals/${question.approval_id}`)).body,
  }
}

type AskedApp = Awaited<ReturnType<typeof openAskedApp>>

function toPostmarkMail({ id, text = 'yes', from = 'kim@client.example', to = 'help@shop.example', ...mail }: Mail) {
  const { replyTo = '', subject = 'Re: My account', references, checks = null, file } = mail
  const headers = {
    'Message-ID': `<${id}@mail.example>`,
    ...(references !== undefined && { References: references }),
    ...(checks && { 'Received-SPF': checks.spf, 'X-Spam-Tests': checks.dkim }),
  }
  return {
    FromFull: { Email: from, Name: 'Kim' },
    ReplyTo: replyTo,
    ToFull: [{ Email: to }],
    OriginalRecipient: to,
    Subject: subject,
    TextBody: text,
    ...(file && {
      Attachments: [{ Name: file.name, Content: Buffer.alloc(file.size).toString('base64'), ContentType: 'x/y' }],
    }),
    Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
  }
}

type Forgery = [name: string, mail: (app: AskedApp) => Omit<Mail, 'id'>]

/** Mails that the client may not have written. */
const FORGERIES: Forgery[] = [
  ['From and subject only', () => ({})],
  ['From and subject only, from a server that may send for the domain', () => ({ checks: PASSED })],
  ['failed checks', () => ({ checks: FAILED })],
  ['failed checks, and the reply address', ({ replyAddress }) => ({ checks: FAILED, to: replyAddress })],
  [
    'a failed SPF, and the id of the question',
    ({ questionId }) => ({
      checks: { spf: 'Softfail', dkim: '' },
      references: questionId,
    }),
  ],
  ["the id of the client's own mail", () => ({ references: '<m1@mail.example>' })],
  ['the token of another conversation', () => ({ to: `help+t_${'0'.repeat(32)}@shop.example` })],
  [
    'the client in Reply-To',
    ({ replyAddress }) => ({
      from: 'noreply@attacker.example',
      replyTo: 'kim@client.example',
      to: replyAddress,
      checks: PASSED,
    }),
  ],
]

test.each(FORGERIES)('a mail with %s answers no question', async (_, forge) => {
  const app = await openAskedApp('sqlite')
  const { task_id } = await app.deliver({ id: 'm2', ...forge(app) })
  expect(task_id).not.toBe(app.asked.task_id)
  expect(await app.readQuestion()).toMatchObject({ status: 'pending' })
})

const PROOFS: Forgery[] = [
  ['the reply address', ({ replyAddress }) => ({ to: replyAddress, subject: 'Hello' })],
  ['the id of the question under another subject', ({ questionId }) => ({ references: questionId, subject: 'Hello' })],
  [
    'the id of the question between others',
    ({ questionId }) => ({
      references: `<m1@mail.example> ${questionId} <x@mail.example>`,
      checks: PASSED,
    }),
  ],
  ['one passed check', ({ replyAddress }) => ({ to: replyAddress, checks: { ...FAILED, dkim: PASSED.dkim } })],
]

anyStore((store) => {
  test.each(PROOFS)('a mail of the client with %s is the answer', async (_, prove) => {
    const app = await openAskedApp(store)
    expect(await app.deliver({ id: 'm2', ...prove(app) })).toMatchObject({ task_id: app.asked.task_id })
    expect(await app.finished(app.asked.task_id)).toMatchObject({ output: { reply: 'You chose yes.' } })
    expect(await app.readQuestion()).toMatchObject({ status: 'approved', decided_by: { kind: 'client' } })
    expect((await app.messages())[2]).toMatchObject({ body: 'yes', unverified: false, sent_by: null })
  })

  test('the id of the question in a mail of another client answers nothing', async () => {
    const app = await openAskedApp(store)
    const foreign = { from: 'lee@client.example', references: app.questionId, to: app.replyAddress, checks: PASSED }
    expect((await app.deliver({ id: 'm2', ...foreign })).thread_id).not.toBe(app.asked.thread_id)
    expect(await app.readQuestion()).toMatchObject({ status: 'pending' })
  })

  test('a mail without proof is shown in the conversation as unverified, to the team and to the agent', async () => {
    const app = await openAskedApp(store)
    const { task_id, thread_id } = await app.deliver({ id: 'm2', checks: FAILED })
    expect(thread_id).toBe(app.asked.thread_id)
    expect((await app.messages()).map(({ unverified }: { unverified: boolean }) => unverified)).toEqual([
      false,
      false,
      true,
    ])
    expect((await app.messages())[2]).toMatchObject({ body: 'yes', verdict: { spf: 'fail', dkim: 'fail' } })
    expect((await app.call('GET', `/v1/tasks/${task_id}`)).body.input).toMatchObject({ body: 'yes', unverified: true })
    expect((await app.call('GET', `/v1/tasks/${app.asked.task_id}`)).body.input).not.toHaveProperty('unverified')
  })

  test('the verdict and the address of From are kept if the client is in Reply-To', async () => {
    const app = await openAskedApp(store)
    const relayed = { from: 'noreply@forms.example', replyTo: 'kim@client.example', checks: PASSED }
    await app.deliver({ id: 'm2', ...relayed })
    expect((await app.messages())[2]).toMatchObject({
      from: { handle: 'kim@client.example' },
      sent_by: 'noreply@forms.example',
      unverified: true,
      verdict: { spf: 'pass', dkim: 'pass', by: 'postmark' },
    })
  })
})

test('the id of an unverified mail proves nothing, and the id of a verified one does', async () => {
  const app = await openAskedApp('sqlite')
  await app.deliver({ id: 'forged', text: 'One' })
  await app.deliver({ id: 'm3', text: 'Two', subject: 'Two', references: '<forged@mail.example>' })
  await app.deliver({
    id: 'm4',
    text: 'Three',
    subject: 'Three',
    references: '<m1@mail.example> <forged@mail.example>',
  })
  const received = (await app.messages()).slice(2)
  expect(received.map(({ body, unverified }: { body: string; unverified: boolean }) => [body, unverified])).toEqual([
    ['One', true],
    ['Two', true],
    ['Three', false],
  ])
})

test('a closed conversation that a mail names proves its sender, and the mail is received in an open one', async () => {
  const app = await openAskedApp('sqlite')
  await app.call('PUT', `/v1/threads/${app.asked.thread_id}`, { status: 'closed' })
  const { thread_id } = await app.deliver({ id: 'm2', text: 'No proof' })
  expect(thread_id).not.toBe(app.asked.thread_id)
  const mails = [
    { id: 'm3', text: 'Reply address', to: app.replyAddress },
    { id: 'm4', text: 'Known id', references: app.questionId },
    { id: 'm5', text: 'Failed checks', to: app.replyAddress, checks: FAILED },
    { id: 'm6', text: 'Nothing' },
  ]
  for (const mail of mails) expect(await app.deliver(mail)).toMatchObject({ thread_id })
  const { messages } = await readThread(app, thread_id)
  const inbound = messages.filter(({ direction }: { direction: string }) => direction === 'inbound')
  expect(inbound.map(({ body, unverified }: { body: string; unverified: boolean }) => [body, unverified])).toEqual([
    ['No proof', false],
    ['Reply address', false],
    ['Known id', false],
    ['Failed checks', true],
    ['Nothing', true],
  ])
})

test('a mail without proof does not become a part of a task that the client has started', async () => {
  const app = await openAskedApp('sqlite')
  await app.call('PUT', `/v1/channels/${app.channelId}`, { settle_s: 60 })
  const first = await app.deliver({ id: 'm2', text: 'Two shirts', to: app.replyAddress })
  const forged = await app.deliver({ id: 'm3', text: 'Send them elsewhere', checks: FAILED })
  expect(forged).toMatchObject({ thread_id: first.thread_id })
  expect(forged.task_id).not.toBe(first.task_id)
  const input = async (id: string) => (await app.call('GET', `/v1/tasks/${id}`)).body.input
  expect(await input(first.task_id)).toMatchObject({ body: 'Two shirts' })
  expect(await input(forged.task_id)).toMatchObject({ body: 'Send them elsewhere', unverified: true })
})

test('mails without proof that become one task keep their mark', async () => {
  const app = await openAskedApp('sqlite')
  await app.call('PUT', `/v1/channels/${app.channelId}`, { settle_s: 60 })
  const { task_id } = await app.deliver({ id: 'm2', text: 'One', subject: 'Shirts', checks: FAILED })
  for (const text of ['Two', 'Three'])
    expect(await app.deliver({ id: text, text, subject: 'Shirts', checks: FAILED })).toMatchObject({ task_id })
  const { input } = (await app.call('GET', `/v1/tasks/${task_id}`)).body
  const messages = ['One', 'Two', 'Three'].map((body) => ({ body, unverified: true }))
  expect(input).toMatchObject({ unverified: true, messages })
})

test('a mail with failed checks does not take an address from the visitor who typed it', async () => {
  const app = await openAskedApp('sqlite')
  const origin = 'https://shop.example'
  const widget = await createAndGetId(app, '/v1/channels', {
    connection_id: app.connectionId,
    address: 'chat',
    adapter: 'widget',
    config: { origins: [origin] },
    wedge: 'reply',
    task_type: 'transfer',
  })
  const message = { visitor: 'v'.repeat(20), body: 'Hello', email: 'ada@client.example' }
  const visitor = (await app.call('POST', `/v1/hooks/${widget}`, message, { key: null, headers: { origin } })).body
  const sendMail = (id: string, checks: Mail['checks']) =>
    app.deliver({ id, from: 'ada@client.example', subject: id, ...(checks && { checks }) })
  expect(await sendMail('forged', FAILED)).toMatchObject({ client_id: visitor.client_id })
  expect((await app.call('GET', `/v1/clients/${visitor.client_id}`)).body.handles).toContain('ada@client.example')
  expect((await sendMail('real', PASSED)).client_id).not.toBe(visitor.client_id)
})

test('a note of the service about a file that was not stored answers no question', async () => {
  const app = await openAskedApp('sqlite', { call: { tool: 'ask_person', input: { question: 'Why?', to: 'client' } } })
  const file = { name: 'a.bin', size: 2_000_000 }
  const noted = await app.deliver({ id: 'm2', text: '', to: app.replyAddress, file })
  expect(noted.task_id).not.toBe(app.asked.task_id)
  expect((await app.messages())[2].body).toMatch(/^\[the file "a.bin" was not stored: /)
  expect(await app.readQuestion()).toMatchObject({ status: 'pending' })
  await app.deliver({ id: 'm3', text: 'I moved', to: app.replyAddress, file })
  expect(await app.readQuestion()).toMatchObject({ status: 'approved', edited: { answer: 'I moved' } })
  expect((await app.messages())[3].body).toMatch(/^I moved\n\n\[the file "a.bin" was not stored: /)
})

test('an approval shows that the message it is about is unverified', async () => {
  const app = await openAskedApp('sqlite')
  const { task_id } = await app.deliver({ id: 'm2', from: 'lee@client.example', text: 'Move it.', checks: FAILED })
  const path = `/v1/approvals?task_id=${task_id}&path=question`
  await expect.poll(async () => (await app.call('GET', path)).body.data).toHaveLength(1)
  const [listed] = (await app.call('GET', path)).body.data
  const { context, thread } = (await app.call('GET', `/v1/approvals/${listed.approval_id}`)).body
  expect(context.message).toMatchObject({ body: 'Move it.', unverified: true })
  expect(thread[0]).toMatchObject({ body: 'Move it.', unverified: true })
  expect((await app.readQuestion()).context.message).toMatchObject({ unverified: false })
})

test('an approval shows the message that its task answers, whatever came later', async () => {
  const app = await openAskedApp('sqlite')
  const { task_id } = await app.deliver({ id: 'm2', text: 'Move it to Lee.', checks: FAILED })
  // Tasks of one millisecond have no order.
  await app.clock.advance(1)
  await app.deliver({ id: 'm3', text: 'Any news?', to: app.replyAddress })
  await app.deliver({ id: 'm4', text: 'no', to: app.replyAddress })
  await app.finished(app.asked.task_id)
  const path = `/v1/approvals?task_id=${task_id}&path=question`
  await expect.poll(async () => (await app.call('GET', path)).body.data).toHaveLength(1)
  const [{ context }] = (await app.call('GET', path)).body.data
  expect(context.message).toMatchObject({ body: 'Move it to Lee.', unverified: true })
  expect((await app.readQuestion()).context.message).toMatchObject({ body: 'Please move my account.' })
})
