import { expect, test } from 'vitest'
import { anyStore, eachStore, type TestApp } from '../../app.ts'
import {
  auditLines,
  openChannelApp,
  openPortal,
  projectIdOf,
  sendInbound,
} from '../../customers/channels/channel-app.ts'
import { openPortalMailApp } from './portal-mail.ts'

const requestLink = (app: TestApp, email: string, project = 'default') =>
  app.call('POST', '/v1/portal/links', { email, project }, { key: null })

const openSession = (app: TestApp, token: string) => app.call('POST', '/v1/portal/session', { token }, { key: null })

const MINUTE = 60_000

anyStore((store) => {
  test('a client gets a new sign-in link by mail, and strangers cannot tell who is a client', async () => {
    const app = await openPortalMailApp(store, { language: 'de' })
    const { client_id } = await sendInbound(app, 'Ada@Example.com')
    const stranger = await requestLink(app, 'bob@example.com')
    const known = await requestLink(app, 'ada@example.COM')
    expect([stranger.status, stranger.body]).toEqual([202, { ok: true }])
    expect([known.status, known.body]).toEqual([stranger.status, stranger.body])
    await expect.poll(() => app.mails()).toHaveLength(1)
    const [mail] = app.mails()
    expect(mail).toMatchObject({ To: 'Ada@Example.com', Subject: 'Ihr Anmeldelink für Teapot Shop' })
    const token = /\/portal\?project=default#(svc_plt_\S+)/.exec(mail?.TextBody ?? '')?.[1] ?? ''
    const session = await openSession(app, token)
    expect([session.status, session.body.client.id]).toEqual([201, client_id])
    const effects = () => app.ctx.db.selectFrom('effects').select(['action', 'outcome', 'task_id']).execute()
    await expect.poll(effects).toEqual([{ action: 'outbox:send', outcome: 'ok', task_id: null }])
    await expect.poll(() => auditLines(app)).toContain('system portal.link_created')
    const stored = JSON.stringify(await app.ctx.db.selectFrom('audit_entries').selectAll().execute())
    expect(stored).not.toContain(token)
  })

  test('a sign-in link opens the conversation that the client asked for, and no other', async () => {
    const app = await openPortalMailApp(store)
    const ada = await sendInbound(app, 'ada@example.com')
    const bob = await sendInbound(app, 'bob@example.com')
    const foreign = ['//evil.example', 'thr_00000000000000000000000000', bob.thread_id]
    const links = []
    for (const [n, thread] of [ada.thread_id, ...foreign].entries()) {
      const to = n < 3 ? 'ada@example.com' : 'ADA@example.com'
      if (n === 3) app.clock.jump(15 * MINUTE)
      await app.call('POST', '/v1/portal/links', { email: to, project: 'default', thread }, { key: null })
      await expect.poll(() => app.mails()).toHaveLength(n + 1)
      links.push(/\/portal\S*(?=#svc_plt_)/.exec(app.mails()[n]?.TextBody ?? '')?.[0])
    }
    const home = '/portal?project=default'
    expect(links).toEqual([`${home}&thread=${ada.thread_id}`, home, home, home])
  })

  test('an address that a visitor of the widget only typed gets no link', async () => {
    const app = await openPortalMailApp(store)
    const origin = 'https://shop.example'
    const binding = { connection_id: app.connection, address: 'shop', wedge: 'desk', task_type: 'triage' }
    const widget = { ...binding, adapter: 'widget', config: { origins: [origin] } }
    const channel = await app.call('POST', '/v1/channels', widget)
    const visit = { visitor: 'a-long-random-key-of-the-browser', body: 'Hello', email: 'eve@example.com' }
    const visited = await app.call('POST', `/v1/hooks/${channel.body.id}`, visit, { key: null, headers: { origin } })
    expect(visited.status).toBe(200)
    await requestLink(app, 'eve@example.com')
    await sendInbound(app, 'ada@example.com')
    await requestLink(app, 'ada@example.com')
    await expect.poll(() => app.mails().map(({ To }) => To)).toEqual(['ada@example.com'])
  })

  test('requests for links are limited per address and per network', async () => {
    const app = await openPortalMailApp(store)
    await sendInbound(app, 'ada@example.com')
    const responses = []
    for (let n = 0; n < 21; n++) responses.push((await requestLink(app, 'ada@example.com')).status)
    expect(responses).toEqual([...Array.from({ length: 20 }, () => 202), 429])
    await expect.poll(() => app.mails()).toHaveLength(3)
    await app.clock.advance(15 * 60_000)
    expect((await requestLink(app, 'ada@example.com')).status).toBe(202)
    await expect.poll(() => app.mails()).toHaveLength(4)
  })

  test('mails to an address are counted by the project, however the request names it', async () => {
    const app = await openPortalMailApp(store)
    await sendInbound(app, 'ada@example.com')
    const id = await projectIdOf(app)
    const names = ['default', id, `x.${id.slice(4)}`, `y.${id.slice(4)}`]
    for (const project of names) for (let n = 0; n < 2; n++) await requestLink(app, 'ada@example.com', project)
    await app.call('POST', '/v1/portal/links', { email: 'ada@example.com' }, { key: null })
    await sendInbound(app, 'bob@example.com')
    await requestLink(app, 'bob@example.com')
    await expect.poll(() => app.mails().map(({ To }) => To)).toContain('bob@example.com')
    expect(app.mails().filter(({ To }) => To === 'ada@example.com')).toHaveLength(3)
  })

  test('without a mail connection a request for a link changes nothing', async () => {
    const app = await openChannelApp(store)
    await sendInbound(app, 'ada@example.com')
    expect((await requestLink(app, 'ada@example.com')).status).toBe(202)
    expect((await requestLink(app, 'ada@example.com', 'absent')).status).toBe(202)
    expect(await app.ctx.db.selectFrom('portal_links').selectAll().execute()).toEqual([])
  })

  test('a client uses several devices and signs out of one or of all', async () => {
    const app = await openChannelApp(store)
    const first = await openPortal(app, 'ada@example.com')
    const link = await first.portal('POST', 'device-link')
    const second = (await openSession(app, link.body.token)).body.session_token
    const me = (key: string) => app.call('GET', '/v1/portal/me', undefined, { key }).then(({ status }) => status)
    expect([await me(first.key), await me(second)]).toEqual([200, 200])
    await first.portal('POST', 'sign-out', {})
    expect([await me(first.key), await me(second)]).toEqual([401, 200])
    const third = await openPortal(app, 'ada@example.com')
    await third.portal('POST', 'sign-out', { everywhere: true })
    expect([await me(second), await me(third.key)]).toEqual([401, 401])
    expect(await auditLines(app)).toContain('client portal.signed_out')
  })

  test('signing out everywhere also ends links that were not opened yet', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const links = [await ada.portal('POST', 'device-link'), await bob.portal('POST', 'device-link')]
    await ada.portal('POST', 'sign-out', { everywhere: true })
    const opened = await Promise.all(links.map((link) => openSession(app, link.body.token)))
    expect(opened.map(({ status }) => status)).toEqual([401, 201])
  })
})

eachStore((store) => {
  test('a link for another device lives for 15 minutes, and a client has at most five open ones', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const links = await Promise.all(Array.from({ length: 20 }, () => ada.portal('POST', 'device-link')))
    const created = links.filter(({ status }) => status === 201)
    expect([created.length, links.filter(({ status }) => status === 429).length]).toEqual([5, 15])
    expect(Date.parse(created[0]?.body.expires_at)).toBe(app.clock.now() + 15 * MINUTE)
    expect((await openSession(app, created[0]?.body.token)).status).toBe(201)
    expect((await ada.portal('POST', 'device-link')).status).toBe(201)
    expect((await ada.portal('POST', 'device-link')).status).toBe(429)
    await app.clock.advance(15 * MINUTE)
    expect((await openSession(app, created[1]?.body.token)).status).toBe(401)
    expect((await ada.portal('POST', 'device-link')).status).toBe(201)
  })
})
