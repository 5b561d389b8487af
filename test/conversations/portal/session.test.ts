import { expect, test } from 'vitest'
import { deleteExpiredRows } from '../../../src/automation/retention/delete-expired-rows.ts'
import { anyStore, eachStore } from '../../app.ts'
import {
  auditLines,
  type ChannelApp,
  createAndGetId,
  openChannelApp,
  openPortal,
} from '../../customers/channels/channel-app.ts'

const DAY = 24 * 60 * 60_000

anyStore((store) => {
  test('a link is shown once, has its token in the fragment, and only the hash is stored', async () => {
    const app = await openChannelApp(store)
    const { status, body } = await linkFor(app, await createAndGetId(app, '/v1/clients', {}))
    expect(status).toBe(201)
    expect(body.token).toMatch(/^svc_plt_[\w-]{43}$/)
    expect(body.url).toBe(`https://desk.example/portal?project=default#${body.token}`)
    expect(Date.parse(body.expires_at)).toBe(app.clock.now() + 7 * DAY)
    const rows = await app.ctx.db.selectFrom('portal_links').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(body.token)
  })

  test('a link can be exchanged for a session once', async () => {
    const app = await openChannelApp(store)
    const client = await createAndGetId(app, '/v1/clients', {
      display_name: 'Ada',
      handles: ['ada'],
      metadata: { vip: true },
    })
    const { token } = (await linkFor(app, client)).body
    const session = await exchange(app, token)
    expect(session.status).toBe(201)
    expect(session.body.session_token).toMatch(/^svc_cst_/)
    expect(Date.parse(session.body.expires_at)).toBe(app.clock.now() + 30 * DAY)
    const me = await app.call('GET', '/v1/portal/me', undefined, { key: session.body.session_token })
    const { brand, can_start_conversation, max_file_bytes, notices, ...shown } = me.body
    expect(Object.keys(shown)).toEqual(['id', 'display_name', 'handles', 'created_at'])
    expect([brand.address, can_start_conversation, notices]).toEqual(['default', false, null])
    expect(max_file_bytes).toBe(10 * 1024 * 1024)
    expect(me.body).toMatchObject({ id: client, display_name: 'Ada', handles: ['ada'] })
    expect(session.body.client).toEqual(shown)
    expect((await exchange(app, token)).status).toBe(401)
    expect(await auditLines(app)).toContain('client portal.session_opened')
  })

  test('links and sessions expire and are deleted', async () => {
    const app = await openChannelApp(store)
    const client = await createAndGetId(app, '/v1/clients', {})
    const expired = (await linkFor(app, client)).body.token
    const { session_token: key } = (await exchange(app, (await linkFor(app, client)).body.token)).body
    await endAt(app, app.clock.now() + 1)
    expect((await app.call('GET', '/v1/portal/me', undefined, { key })).status).toBe(200)
    await endAt(app, app.clock.now())
    expect((await exchange(app, expired)).status).toBe(401)
    expect((await app.call('GET', '/v1/portal/me', undefined, { key })).status).toBe(401)
    await deleteExpiredRows(app.ctx)
    expect(await app.ctx.db.selectFrom('portal_links').selectAll().execute()).toEqual([])
    expect(await app.ctx.db.selectFrom('client_sessions').selectAll().execute()).toEqual([])
  })

  test('revoking ends the links and sessions of one client', async () => {
    const app = await openChannelApp(store)
    const ada = await openPortal(app, 'ada@example.com')
    const bob = await openPortal(app, 'bob@example.com')
    const { token } = (await linkFor(app, ada.client_id)).body
    const revoked = await app.call('POST', `/v1/clients/${ada.client_id}/portal-revoke`)
    expect([revoked.status, revoked.body]).toEqual([200, { ok: true }])
    expect((await exchange(app, token)).status).toBe(401)
    expect((await ada.portal('GET', 'me')).status).toBe(401)
    expect((await bob.portal('GET', 'me')).status).toBe(200)
    const fresh = (await linkFor(app, ada.client_id)).body.token
    expect((await exchange(app, fresh)).status).toBe(201)
  })

  test('a client session is refused on the founder plane, and a key on the client plane', async () => {
    const app = await openChannelApp(store)
    const { key, client_id } = await openPortal(app, 'ada@example.com')
    const { token } = (await linkFor(app, client_id)).body
    for (const wrong of [null, app.key, token, `${key}x`]) {
      const response = await app.call('GET', '/v1/portal/me', undefined, { key: wrong })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
    for (const path of ['/v1/clients', `/v1/clients/${client_id}`, '/v1/threads', '/v1/tasks']) {
      expect((await app.call('GET', path, undefined, { key })).status).toBe(401)
    }
    for (const wrong of [key, app.key, 'svc_plt_']) expect((await exchange(app, wrong)).status).toBe(401)
    expect((await app.call('POST', '/v1/portal/session', {}, { key: null })).status).toBe(400)
  })
})

eachStore((store) => {
  test('twenty concurrent exchanges of one link create one session', async () => {
    const app = await openChannelApp(store)
    const { token } = (await linkFor(app, await createAndGetId(app, '/v1/clients', {}))).body
    const responses = await Promise.all(Array.from({ length: 20 }, () => exchange(app, token)))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(19)
    expect(await app.ctx.db.selectFrom('client_sessions').selectAll().execute()).toHaveLength(1)
  })
})

/** Sets the expiry of all links and sessions instead of waiting for it. */
async function endAt({ ctx }: ChannelApp, ms: number): Promise<void> {
  const expires_at = new Date(ms).toISOString()
  await ctx.store.transact(async (db) => {
    await db.updateTable('portal_links').set({ expires_at }).execute()
    await db.updateTable('client_sessions').set({ expires_at }).execute()
  })
}

const linkFor = (app: ChannelApp, client: string) => app.call('POST', `/v1/clients/${client}/portal-link`)

const exchange = (app: ChannelApp, token: string) => app.call('POST', '/v1/portal/session', { token }, { key: null })
