import { expect, onTestFinished, test } from 'vitest'
import { LANGUAGES } from '../../../client-text/languages.ts'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { chatNoticeMail, linkMail, noticeMail } from '../../../src/conversations/portal/mail-text.ts'
import { startDueNotices } from '../../../src/conversations/portal/notices.ts'
import { anyStore, eachStore } from '../../app.ts'
import {
  createAndGetId,
  inboundMail,
  openPortal,
  otherOrganisationSession,
} from '../../customers/channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import { headerOf, mailDueNotices, openPortalMailApp, type PortalMailApp } from './portal-mail.ts'

const NOTICE_DELAY_MS = 60_000

anyStore((store) => {
  test('a mail about an open question says so, also when a later answer is unread', async () => {
    const app = await openPortalMailApp(store, { notify: true, language: 'de' })
    const ada = await askInPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'We are looking into it.' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails()).toHaveLength(1)
    const [mail] = app.mails()
    expect(mail?.Subject).toBe('Frage von Teapot Shop')
    for (const body of [mail?.TextBody, mail?.HtmlBody]) {
      expect(body).toContain('Sie haben eine Frage von Teapot Shop:')
      expect(body).toContain('Which size?')
      expect(body).not.toContain('We are looking into it.')
    }
  })

  test('a mail about an action that the client must approve says that it is a question', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const { asked } = await askInPortal(app, 'ada@example.com', 'shipping', CONSENT_HINT)
    expect(asked).toMatchObject({ path: 'tool', status: 'pending' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails().map(({ Subject }) => Subject)).toEqual(['Question from Teapot Shop'])
    expect(app.mails()[0]?.TextBody).toContain('You have a question from Teapot Shop:')
    expect(app.mails()[0]?.TextBody).toContain(CONSENT_HINT)
  })

  test('of two questions of a task, the mail has the one that the team has not answered', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const { task_id, thread_id } = await askInPortal(app, 'ada@example.com')
    await app.clock.advance(1)
    await addAnsweredQuestion(app, { task_id, thread_id }, 'Which colour?')
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails().map(({ Subject }) => Subject)).toEqual(['Question from Teapot Shop'])
    expect(app.mails()[0]?.TextBody).toContain('Which size?')
    expect(app.mails()[0]?.TextBody).not.toContain('colour')
  })

  test('a question that the team has answered is no question any more', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const { task_id, thread_id, approval } = await askInPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/approvals/${approval}/approve`, { edited: { answer: 'large' } })
    await app.finished(task_id)
    await app.call('POST', `/v1/threads/${thread_id}/messages`, { body: 'We took the large one.' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails().map(({ Subject }) => Subject)).toEqual(['New answer from Teapot Shop'])
    expect(app.mails()[0]?.TextBody).toContain('We took the large one.')
  })

  test('an address that a visitor only typed learns that there is a question, without its text', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const visit = await openWidget(app, 'asking')
    await visit({ body: 'I need a shirt.', email: 'kim@example.com' })
    const [thread] = (await app.call('GET', '/v1/threads')).body.data
    await waitForMessage(app, thread.id, 'Which size?')
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails().map(({ Subject }) => Subject)).toEqual(['Question from Teapot Shop'])
    expect(app.mails()[0]?.TextBody).toContain('You have a question from Teapot Shop.')
    expect(app.mails()[0]?.TextBody).not.toContain('size')
  })

  test('a client who reads the answer in the portal gets no mail', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const ada = await openPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'It left on Monday.' })
    const unread = async () => (await ada.portal('GET', 'threads')).body.data[0].unread
    expect(await unread()).toBe(true)
    await ada.portal('POST', `threads/${ada.thread_id}/read`)
    expect(await unread()).toBe(false)
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    const [thread] = await app.ctx.db.selectFrom('threads').selectAll().execute()
    expect(thread?.client_notified_count).toBe(thread?.message_count)
    expect(app.mails()).toEqual([])
  })

  test('answers from before the mails were switched on send no mail', async () => {
    const app = await openPortalMailApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'It left on Monday.' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await app.call('PUT', '/v1/brand', { notify: true })
    await mailDueNotices(app)
    expect(app.mails()).toEqual([])
  })

  test('a notice whose outcome is not known is not sent again', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    app.upstream.respond = (_, response) => void response.destroy()
    const ada = await openPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'It left on Monday.' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.upstream.received).toHaveLength(1)
    const effects = () => app.ctx.db.selectFrom('effects').select('outcome').execute()
    await expect.poll(effects).toEqual([{ outcome: 'unknown' }])
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    expect(app.upstream.received).toHaveLength(1)
  })

  test('an address that a visitor only typed gets a mail without the answer, and a correction replaces it', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const visit = await openWidget(app)
    await visit({ body: 'Where is order 7?', email: 'a-wrong@example.com' })
    await visit({ body: 'Sorry, a typo.', email: 'kim@example.com' })
    await answerFirstThread(app, 'It left on Monday.')
    await expect.poll(() => app.mails().map(({ To }) => To)).toEqual(['kim@example.com'])
    const [mail] = app.mails()
    expect(mail?.TextBody).toContain('You have a new answer from Teapot Shop.')
    expect(mail?.TextBody).toContain('https://shop.example')
    expect(mail?.TextBody).toContain('&unsubscribe#')
    for (const body of [mail?.TextBody, mail?.HtmlBody]) {
      expect(body).not.toContain('Monday')
      expect(body).not.toContain('&thread=')
    }
  })

  test('a proven address gets the answer, although the client typed another one', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const visit = await openWidget(app)
    await visit({ body: 'Where is order 7?', email: 'a-typed@example.com' })
    const [client] = (await app.call('GET', '/v1/clients')).body.data
    const handles = [...client.handles.filter((handle: string) => handle.startsWith('visitor:')), 'kim@example.com']
    expect((await app.call('PUT', `/v1/clients/${client.id}`, { handles })).status).toBe(200)
    await visit({ body: 'Hello?', email: 'b-typed@example.com' })
    await answerFirstThread(app, 'It left on Monday.')
    await expect.poll(() => app.mails().map(({ To }) => To)).toEqual(['kim@example.com'])
    expect(app.mails()[0]?.TextBody).toContain('Monday')
  })

  test('mails have the name and the colour of the brand', async () => {
    const app = await openPortalMailApp(store, { notify: true, name: 'Tea, "Pots" & Co.', color: '#FFD700' })
    const ada = await openPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body: 'It left on Monday.' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails()).toHaveLength(1)
    const [mail] = app.mails()
    expect(mail?.From).toBe('"Tea, \\"Pots\\" & Co." <shop@example.com>')
    expect(mail?.HtmlBody).toContain('background:#ffd700;color:#000')
    expect(mail?.TextBody).toContain('replies are not read')
    expect(mail?.ReplyTo).toBeUndefined()
  })

  test('a reply to the notice of a conversation in a mail channel continues the conversation', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const { mail_connection_id: connection_id } = (await app.call('GET', '/v1/brand')).body
    const binding = { connection_id, address: 'help@desk.example', wedge: 'desk', task_type: 'triage' }
    const postmark = { ...binding, adapter: 'postmark', config: {} }
    const channel = await createAndGetId(app, '/v1/channels', postmark)
    await app.call('PUT', '/v1/brand', { portal_channel_id: channel })
    const ada = await openPortal(app, 'ada@example.com')
    const thread = (await ada.portal('POST', 'threads', { body: 'Hello' })).body.id
    await app.call('POST', `/v1/threads/${thread}/messages`, { body: 'Hi Ada' })
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await expect.poll(() => app.mails()).toHaveLength(1)
    const [mail] = app.mails()
    expect(mail?.TextBody).toContain('Hi Ada')
    expect(mail?.TextBody).not.toContain('replies are not read')
    const { reply_token } = await app.ctx.db
      .selectFrom('threads')
      .select('reply_token')
      .where('id', '=', thread)
      .executeTakeFirstOrThrow()
    expect(mail?.ReplyTo).toBe(`help+t_${reply_token}@desk.example`)
  })

  test('a mail server that does not answer delays the mails of its own project only', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const silent = await openPortal(app, 'ada@example.com')
    await app.call('POST', `/v1/threads/${silent.thread_id}/messages`, { body: 'It left on Monday.' })
    const second = await openSecondProject(app)
    app.upstream.respond = () => {}
    await app.clock.advance(NOTICE_DELAY_MS)
    await startDueNotices(app.ctx, new Map())
    await expect.poll(() => second.upstream.received).toHaveLength(1)
    await expect.poll(() => app.upstream.received).toHaveLength(1)
  })
})

eachStore((store) => {
  test('a client who has not read an answer gets one mail about it, and can stop these mails with one click', async () => {
    const app = await openPortalMailApp(store, { notify: true })
    const ada = await openPortal(app, 'ada@example.com')
    const answer = (body: string) => app.call('POST', `/v1/threads/${ada.thread_id}/messages`, { body })
    await answer('It left on Monday.')
    await answer('It arrives <today>.')
    await mailDueNotices(app)
    expect(app.mails()).toEqual([])
    await app.clock.advance(NOTICE_DELAY_MS)
    await Promise.all([mailDueNotices(app), mailDueNotices(app)])
    await expect.poll(() => app.mails()).toHaveLength(1)
    const [mail] = app.mails()
    expect(mail).toMatchObject({ To: 'ada@example.com', Subject: 'New answer from Teapot Shop' })
    expect(mail?.TextBody).toContain('It arrives <today>.')
    expect(mail?.TextBody).toContain(`/portal?project=default&thread=${ada.thread_id}`)
    if (!mail) throw new Error('no mail')
    expect(headerOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    const unsubscribe = new URL(/<(.*)>/.exec(headerOf(mail, 'List-Unsubscribe') ?? '')?.[1] ?? '')
    const body = 'List-Unsubscribe=One-Click'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const pressed = await fetch(app.url + unsubscribe.pathname + unsubscribe.search, { method: 'POST', body, headers })
    expect([pressed.status, await pressed.json()]).toEqual([200, { ok: true, found: true }])
    const unknown = await fetch(`${app.url}/v1/portal/unsubscribe/svc_uns_x`, { method: 'POST', body, headers })
    expect([unknown.status, await unknown.json()]).toEqual([200, { ok: true, found: false }])
    expect((await ada.portal('GET', 'me')).body.notices).toBe(false)
    await answer('It is there.')
    await app.clock.advance(NOTICE_DELAY_MS)
    await mailDueNotices(app)
    await ada.portal('POST', 'notices', { enabled: true })
    expect((await ada.portal('GET', 'me')).body.notices).toBe(true)
    await mailDueNotices(app)
    expect(app.mails()).toHaveLength(1)
  })
})

/** A visitor's browser on the only page of a widget. */
async function openWidget(app: PortalMailApp, wedge = 'desk') {
  const origin = 'https://shop.example'
  const binding = { connection_id: app.connection, address: 'shop', wedge, task_type: 'triage' }
  const channel = await createAndGetId(app, '/v1/channels', {
    ...binding,
    adapter: 'widget',
    config: { origins: [origin] },
  })
  return async (message: object) => {
    const visit = { visitor: 'a-long-random-key-of-the-browser', ...message }
    const sent = await app.call('POST', `/v1/hooks/${channel}`, visit, { key: null, headers: { origin } })
    expect(sent.status).toBe(200)
  }
}

const CONSENT_HINT = 'You can approve or decline it in the portal.'

/** A client with a portal session whose message made an agent ask a question or for an approval, which is not read. */
async function askInPortal(app: PortalMailApp, handle: string, wedge = 'asking', text = 'Which size?') {
  const binding = { connection_id: app.connection, address: 'ask@desk.example', wedge, task_type: 'triage' }
  const channel = await createAndGetId(app, '/v1/channels', binding)
  const client = await openPortal({ ...app, channel }, handle)
  await waitForMessage(app, client.thread_id, text)
  const [question] = (await app.call('GET', `/v1/approvals?task_id=${client.task_id}`)).body.data
  return { ...client, approval: question.approval_id, asked: question }
}

/** As if the task had asked two questions at the same time, and the team had answered the second one. */
async function addAnsweredQuestion(
  { ctx }: PortalMailApp,
  { task_id, thread_id }: { task_id: string; thread_id: string },
  question: string,
): Promise<void> {
  const created_at = new Date(ctx.world.clock.now()).toISOString()
  const asking = ctx.db.selectFrom('approvals').selectAll().where('task_id', '=', task_id)
  const approval = await asking.executeTakeFirstOrThrow()
  const sent = ctx.db.selectFrom('messages').selectAll().where('thread_id', '=', thread_id)
  const asked = await sent.where('direction', '=', 'outbound').executeTakeFirstOrThrow()
  await inTx(ctx, async ({ db, world }) => {
    const answered = { ...approval, id: world.newId('apr'), status: 'approved', created_at }
    await db.insertInto('approvals').values(answered).execute()
    const message = { ...asked, id: world.newId('msg'), n: asked.n + 1, body: question, created_at }
    await db.insertInto('messages').values(message).execute()
    await db.updateTable('threads').set({ message_count: message.n }).where('id', '=', thread_id).execute()
  })
}

async function waitForMessage(app: PortalMailApp, thread: string, text: string): Promise<void> {
  const bodies = async () =>
    (await app.call('GET', `/v1/threads/${thread}`)).body.messages.map(({ body }: { body: string }) => body)
  await expect.poll(bodies).toContainEqual(expect.stringContaining(text))
}

async function answerFirstThread(app: PortalMailApp, body: string): Promise<void> {
  const [thread] = (await app.call('GET', '/v1/threads')).body.data
  expect((await app.call('POST', `/v1/threads/${thread.id}/messages`, { body })).status).toBe(201)
  await app.clock.advance(NOTICE_DELAY_MS)
  await mailDueNotices(app)
}

/** The project of another organisation, with a mail API of its own and an answer that its client has not read. */
async function openSecondProject(app: PortalMailApp) {
  const upstream = await openFakeUpstream()
  onTestFinished(() => upstream.close())
  upstream.respond = (_, response) => respondJson(response, 200, { MessageID: '1' })
  const key = await otherOrganisationSession(app)
  const post = async (path: string, body: object) => (await app.call('POST', path, body, { key })).body
  const config = { provider: 'postmark', from: 'other@example.com', base_url: upstream.url }
  const mail = await post('/v1/connections', { kind: 'email', name: 'outbox', config })
  await post(`/v1/connections/${mail.id}/secret`, { value: 'server-token' })
  await app.call('PUT', '/v1/brand', { mail_connection_id: mail.id, notify: true }, { key })
  const binding = { connection_id: mail.id, address: 'help@other.example', wedge: 'desk', task_type: 'triage' }
  const channel = await post('/v1/channels', binding)
  const { thread_id } = await post(`/v1/channels/${channel.id}/inbound`, inboundMail('bob@example.com'))
  await post(`/v1/threads/${thread_id}/messages`, { body: 'It left on Tuesday.' })
  return { upstream }
}

test.each(LANGUAGES)('the subject of each mail to a client is a sentence in %s with a capital letter', (language) => {
  const urls = { portal: 'https://work.example/portal', unsubscribe: 'https://work.example/unsubscribe', page: null }
  for (const name of ['teapot shop', null]) {
    const brand = { name, color: null, language }
    const mails = [true, false].flatMap((isQuestion) => [
      noticeMail(brand, { text: 'which size?', isQuestion, isAnswerable: false }, urls),
      chatNoticeMail(brand, { isQuestion }, urls),
    ])
    const subjects = [...mails, linkMail(brand, urls.portal)].map(({ subject }) => subject)
    expect(new Set(subjects).size).toBe(3)
    for (const subject of subjects) expect(subject).toMatch(/^\p{Lu}[^{}]+ \p{L}+$/u)
  }
})
