import { describe, expect, test, vi } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { type TwoTenantApp, openPortalSession, sharedTwoTenants } from './two-tenants.ts'
import { readAllRows } from './all-rows.ts'
import {
  type AnyRoute,
  sendRequest,
  bearer,
  CLIENT_ROUTES,
  FOUNDER_ROUTES,
  routeName,
  OPEN_ROUTES,
  fillPath,
  type RawResponse,
  readOpenApi,
  inParallel,
} from './route-table.ts'

// Thousands of requests: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const REFUSED: RawResponse = {
  status: 401,
  text: '{"error":"a valid credential is required"}',
  challenge: 'Bearer',
  type: 'application/json; charset=utf-8',
}

// One store is enough: who may do what is decided from rows that test/accounts reads on both.
describe('on sqlite', () => {
  const estate = sharedTwoTenants('sqlite')

  test('the reference lists every route that is bound, and no other', async () => {
    const { paths } = await readOpenApi(estate())
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{([a-z_]+)\}/g, ':$1')}`),
    )
    const bound = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].map(routeName)
    expect(listed.toSorted()).toEqual(bound.toSorted())
    expect(new Set(bound).size).toBe(bound.length)
  })

  test('outside its plane every credential is a stranger, told with the same words', async () => {
    const { ownProject: near, sessions } = estate()
    const client = await openPortalSession(estate(), near)
    const everyone = await strangers(estate())
    const before = await readAllRows(estate())
    const founderOnly = { 'founder key': bearer(FOUNDER_KEY), 'founder session': bearer(sessions.owner) }
    await refuses(FOUNDER_ROUTES, { ...everyone, 'client session': bearer(client) })
    await refuses(CLIENT_ROUTES, { ...everyone, ...founderOnly })
    expect(await readAllRows(estate())).toEqual(before)
  })

  // But for what the provider says of an authorisation: that is kept, and is in the audit.
  test('no GET changes anything', async () => {
    const { ownProject: near, sessions } = estate()
    const client = { authorization: bearer(await openPortalSession(estate(), near)) }
    const owner = { authorization: bearer(sessions.owner), headers: { 'x-svc-project': near.ids.projects ?? '' } }
    const before = await readAllRows(estate())
    for (const [routes, sent] of [
      [[...FOUNDER_ROUTES, ...OPEN_ROUTES], owner] as const,
      [CLIENT_ROUTES, client] as const,
    ]) {
      const reads = routes.filter(({ method }) => method === 'GET')
      await inParallel(reads, async ({ path }) => {
        const { status, text } = await sendRequest(estate(), 'GET', fillPath(path, near.ids), sent)
        // There is no provider, the connection is none of its own, and one route only says that it is none.
        expect([200, 400, 405, 502], `${path}: ${text.slice(0, 200)}`).toContain(status)
      })
    }
    expect(await readAllRows(estate())).toEqual(before)
  })

  test('no credential opens the sandbox plane over TCP', async () => {
    const { ownProject: near, sessions } = estate()
    const client = bearer(await openPortalSession(estate(), near))
    const all = { ...(await strangers(estate())), key: bearer(FOUNDER_KEY), session: bearer(sessions.owner), client }
    const paths = [
      'gate',
      'actions/mail',
      'reads/mail',
      'llm/openai/v1/x',
      'records/a/b',
      'case',
      'workflows/x',
      'x',
      '',
    ]
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
        await inParallel(Object.entries(all), async ([who, authorization]) => {
          const answer = await sendRequest(estate(), method, `/v1/internal/${path}`, { authorization })
          expect(answer, `${method} ${path} by ${who}`).toEqual(REFUSED)
        })
      }
    }
  })

  test('a credential counts only in the authorization header', async () => {
    const carried: Record<string, Record<string, string>> = {
      cookie: { cookie: `session=${FOUNDER_KEY}; authorization=${FOUNDER_KEY}` },
      'x-api-key': { 'x-api-key': FOUNDER_KEY },
      'proxy-authorization': { 'proxy-authorization': bearer(FOUNDER_KEY) },
    }
    for (const headers of Object.values(carried)) {
      expect(await sendRequest(estate(), 'GET', '/v1/tasks', { headers })).toEqual(REFUSED)
    }
    for (const query of ['access_token', 'api_key', 'key', 'token', 'authorization']) {
      expect(await sendRequest(estate(), 'GET', `/v1/tasks?${query}=${FOUNDER_KEY}`)).toEqual(REFUSED)
    }
    expect(await sendRequest(estate(), 'GET', '/v1/tasks', { authorization: `bEaReR   ${FOUNDER_KEY}` })).toMatchObject(
      { status: 200 },
    )
  })

  test('a route that is not there tells nobody what is', async () => {
    for (const path of [
      '/v1/task',
      '/v1/tasks/x/y',
      '/v1',
      '/V1/tasks',
      '/v1//tasks',
      '/v1/portal',
      '/admin',
      '/.env',
    ]) {
      const answer = await sendRequest(estate(), 'GET', path)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([404, { error: `no such route: GET ${path}` }])
    }
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES]) {
      const answer = await sendRequest(estate(), 'PATCH', fillPath(route.path, estate().ownProject.ids), { json: {} })
      expect(answer.status, routeName(route)).toBe(404)
    }
  })

  async function refuses(routes: AnyRoute[], credentials: Record<string, string | null>) {
    for (const route of routes) {
      const path = fillPath(route.path, estate().ownProject.ids)
      const sent = route.method === 'GET' ? {} : { raw: '{"' }
      await inParallel(Object.entries(credentials), async ([who, authorization]) => {
        const answer = await sendRequest(estate(), route.method, path, { authorization, ...sent })
        expect(answer, `${routeName(route)} by ${who}`).toEqual(REFUSED)
      })
    }
  }
})

/** Credentials that open nothing at all, wherever they are shown. */
async function strangers(app: TwoTenantApp): Promise<Record<string, string | null>> {
  const { key, ids } = app.ownProject
  const link = await app.call('POST', `/v1/clients/${ids.clients}/portal-link`, undefined, { key })
  const email = `guest-${app.ctx.world.newId('mem')}@example.com`
  const invited = await app.call('POST', '/v1/members', { email, role: 'owner' }, { key: app.sessions.owner })
  const revoked = await app.call('POST', '/v1/keys', { name: 'revoked' }, { key })
  await app.call('DELETE', `/v1/keys/${revoked.body.id}`, undefined, { key })
  const random = 'A'.repeat(43)
  const prefixes = ['svc_key_', 'svc_fst_', 'svc_cst_', 'svc_tsk_', 'svc_gat_', 'svc_plt_', 'svc_inv_', 'sk-', '']
  return {
    none: null,
    'portal link': bearer(link.body.token),
    invite: bearer(invited.body.invite),
    'revoked key': bearer(revoked.body.key),
    ...Object.fromEntries(prefixes.map((prefix) => [`random ${prefix}`, bearer(prefix + random)])),
    'no scheme': FOUNDER_KEY,
    basic: `Basic ${Buffer.from(`${FOUNDER_KEY}:`).toString('base64')}`,
    'basic with the key': `Basic ${FOUNDER_KEY}`,
    'scheme alone': 'Bearer',
    'two tokens': `Bearer ${FOUNDER_KEY} ${FOUNDER_KEY}`,
    'a list': `Bearer ${FOUNDER_KEY}, Bearer ${FOUNDER_KEY}`,
    quoted: `Bearer "${FOUNDER_KEY}"`,
    'no space': `Bearer${FOUNDER_KEY}`,
    longer: bearer(`${FOUNDER_KEY}x`),
    shorter: bearer(FOUNDER_KEY.slice(0, -1)),
    'upper case': bearer(FOUNDER_KEY.toUpperCase()),
    'client prefix on a key': bearer(FOUNDER_KEY.replace('svc_key_', 'svc_cst_')),
    'key prefix on a session': bearer(app.sessions.owner.replace('svc_fst_', 'svc_key_')),
  }
}
