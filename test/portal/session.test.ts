import { expect, test } from 'vitest'
import { removeExpiredPortalAccess } from '../../src/portal/session.ts'
import { eachStore } from '../app.ts'
import { auditLines, openPortal, type ChannelApp, createAndGetId, openChannelApp } from '../channels/channel-app.ts'

const DAY = 24 * 60 * 60_000

eachStore((store) => {
  test('a link is shown once, carries its token where no server sees it, and only its hash is stored', async () => {
    const front = await openChannelApp(store)
    const { status, body } = await linkFor(front, await createAndGetId(front, '/v1/clients', {}))
    expect(status).toBe(201)
    expect(body.token).toMatch(/^svc_plt_[\w-]{43}$/)
    expect(body.url).toBe(`https://desk.example/portal#${body.token}`)
    expect(Date.parse(body.expires_at)).toBe(front.clock.now() + 7 * DAY)
    const rows = await front.ctx.db.selectFrom('portal_links').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(body.token)
  })

  test('a link is exchanged for a session, once', async () => {
    const front = await openChannelApp(store)
    const client = await createAndGetId(front, '/v1/clients', {
      display_name: 'Ada',
      handles: ['ada'],
      metadata: { vip: true },
    })
    const { token } = (await linkFor(front, client)).body
    const session = await exchange(front, token)
    expect(session.status).toBe(201)
    expect(session.body.session_token).toMatch(/^svc_cst_/)
    expect(Date.parse(session.body.expires_at)).toBe(front.clock.now() + 30 * DAY)
    const me = await front.call('GET', '/v1/portal/me', undefined, { key: session.body.session_token })
    expect(Object.keys(me.body)).toEqual(['id', 'display_name', 'handles', 'created_at'])
    expect(me.body).toMatchObject({ id: client, display_name: 'Ada', handles: ['ada'] })
    expect(session.body.client).toEqual(me.body)
    expect((await exchange(front, token)).status).toBe(401)
    expect(await auditLines(front)).toContain('client portal.session_opened')
  })

  test('twenty simultaneous exchanges of one link give one session', async () => {
    const front = await openChannelApp(store)
    const { token } = (await linkFor(front, await createAndGetId(front, '/v1/clients', {}))).body
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(front, token)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
    expect(await front.ctx.db.selectFrom('client_sessions').selectAll().execute()).toHaveLength(1)
  })

  test('links and sessions end when their time has come, and are swept away', async () => {
    const front = await openChannelApp(store)
    const client = await createAndGetId(front, '/v1/clients', {})
    const late = (await linkFor(front, client)).body.token
    const { session_token: key } = (await exchange(front, (await linkFor(front, client)).body.token)).body
    await endAt(front, front.clock.now() + 1)
    expect((await front.call('GET', '/v1/portal/me', undefined, { key })).status).toBe(200)
    await endAt(front, front.clock.now())
    expect((await exchange(front, late)).status).toBe(401)
    expect((await front.call('GET', '/v1/portal/me', undefined, { key })).status).toBe(401)
    await removeExpiredPortalAccess(front.ctx)
    expect(await front.ctx.db.selectFrom('portal_links').selectAll().execute()).toEqual([])
    expect(await front.ctx.db.selectFrom('client_sessions').selectAll().execute()).toEqual([])
  })

  test('revoking ends the links and sessions of one client', async () => {
    const front = await openChannelApp(store)
    const ada = await openPortal(front, 'ada@example.com')
    const bob = await openPortal(front, 'bob@example.com')
    const { token } = (await linkFor(front, ada.client_id)).body
    const revoked = await front.call('POST', `/v1/clients/${ada.client_id}/portal-revoke`)
    expect([revoked.status, revoked.body]).toEqual([200, { ok: true }])
    expect((await exchange(front, token)).status).toBe(401)
    expect((await ada.portal('GET', 'me')).status).toBe(401)
    expect((await bob.portal('GET', 'me')).status).toBe(200)
    const fresh = (await linkFor(front, ada.client_id)).body.token
    expect((await exchange(front, fresh)).status).toBe(201)
  })

  test('the planes do not overlap', async () => {
    const front = await openChannelApp(store)
    const { key, client_id } = await openPortal(front, 'ada@example.com')
    const { token } = (await linkFor(front, client_id)).body
    for (const wrong of [null, front.key, token, `${key}x`]) {
      const answer = await front.call('GET', '/v1/portal/me', undefined, { key: wrong })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
    for (const path of ['/v1/clients', `/v1/clients/${client_id}`, '/v1/threads', '/v1/tasks']) {
      expect((await front.call('GET', path, undefined, { key })).status).toBe(401)
    }
    for (const wrong of [key, front.key, 'svc_plt_']) expect((await exchange(front, wrong)).status).toBe(401)
    expect((await front.call('POST', '/v1/portal/session', {}, { key: null })).status).toBe(400)
  })
})

/** Sets the end of all links and sessions, which is sooner done than waiting for it. */
async function endAt({ ctx }: ChannelApp, ms: number): Promise<void> {
  const expires_at = new Date(ms).toISOString()
  await ctx.store.transact(async (db) => {
    await db.updateTable('portal_links').set({ expires_at }).execute()
    await db.updateTable('client_sessions').set({ expires_at }).execute()
  })
}

const linkFor = (front: ChannelApp, client: string) => front.call('POST', `/v1/clients/${client}/portal-link`)

const exchange = (front: ChannelApp, token: string) =>
  front.call('POST', '/v1/portal/session', { token }, { key: null })
