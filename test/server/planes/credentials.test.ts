import { describe, expect, test, vi } from 'vitest'
import { FOUNDER_KEY } from '../../app.ts'
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

// Thousands of requests take minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const REFUSED: RawResponse = {
  status: 401,
  text: '{"error":"a valid credential is required"}',
  challenge: 'Bearer',
  type: 'application/json; charset=utf-8',
}
/** The MCP endpoint also says where an app finds out how to get a token. */
const REFUSED_BY_MCP = {
  ...REFUSED,
  challenge: expect.stringMatching(/^Bearer (error="invalid_token", )?resource_metadata="http[^"]+"$/),
}

/** The authorisation endpoint leads to the console, and a decision link shows its approval. */
const EXACT_STATUSES: Record<string, number[]> = { '/authorize': [303], '/v1/decide': [200] }

// One store is enough, because test/identity/accounts reads the rows that decide about access on both stores.
describe('credentials by plane', () => {
  const tenants = sharedTwoTenants('sqlite')

  test('the OpenAPI document lists exactly the routes of the server', async () => {
    const { paths } = await readOpenApi(tenants())
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{([a-z_]+)\}/g, ':$1')}`),
    )
    const bound = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].map(routeName)
    expect(listed.toSorted()).toEqual(bound.toSorted())
    expect(new Set(bound).size).toBe(bound.length)
  })

  test('a credential of another plane gets the same 401 as an invalid one, and nothing changes', async () => {
    const { ownProject, sessions } = tenants()
    const client = await openPortalSession(tenants(), ownProject)
    const invalid = await invalidCredentials(tenants())
    const before = await readAllRows(tenants())
    const founderOnly = { 'founder key': bearer(FOUNDER_KEY), 'founder session': bearer(sessions.owner) }
    await expectRefused(FOUNDER_ROUTES, { ...invalid, 'client session': bearer(client) })
    await expectRefused(CLIENT_ROUTES, { ...invalid, ...founderOnly })
    expect(await readAllRows(tenants())).toEqual(before)
  })

  // The exception, the authorisation status that a broker reports, cannot occur without a broker.
  test('no GET changes a row', async () => {
    const { ownProject, sessions } = tenants()
    const client = { authorization: bearer(await openPortalSession(tenants(), ownProject)) }
    const owner = { authorization: bearer(sessions.owner), headers: { 'x-svc-project': ownProject.ids.projects ?? '' } }
    const before = await readAllRows(tenants())
    const isDecision = ({ path }: AnyRoute) => path.startsWith('/v1/decide')
    for (const [routes, sent] of [
      [[...FOUNDER_ROUTES, ...OPEN_ROUTES.filter((route) => !isDecision(route))], owner] as const,
      [OPEN_ROUTES.filter(isDecision), { authorization: bearer(ownProject.decisionToken) }] as const,
      [CLIENT_ROUTES, client] as const,
    ]) {
      const reads = routes.filter(({ method }) => method === 'GET')
      await inParallel(reads, async ({ path }) => {
        // Without a credential only the query names the project.
        const query = path.startsWith('/v1/portal/brand') ? '?project=default' : ''
        const { status, text } = await sendRequest(tenants(), 'GET', fillPath(path, ownProject.ids) + query, sent)
        // There is no broker (502), the connection is not one of a broker (400), and GET /mcp is always 405.
        const expected = EXACT_STATUSES[path] ?? [200, 400, 405, 502]
        expect(expected, `${path}: ${text.slice(0, 200)}`).toContain(status)
      })
    }
    expect(await readAllRows(tenants())).toEqual(before)
  })

  test('no credential opens the sandbox plane over TCP', async () => {
    const { ownProject, sessions } = tenants()
    const client = bearer(await openPortalSession(tenants(), ownProject))
    const all = {
      ...(await invalidCredentials(tenants())),
      key: bearer(FOUNDER_KEY),
      session: bearer(sessions.owner),
      client,
    }
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
          const response = await sendRequest(tenants(), method, `/v1/internal/${path}`, { authorization })
          expect(response, `${method} ${path} by ${who}`).toEqual(REFUSED)
        })
      }
    }
  })

  test('a credential is accepted only in the authorization header', async () => {
    const otherHeaders: Record<string, Record<string, string>> = {
      cookie: { cookie: `session=${FOUNDER_KEY}; authorization=${FOUNDER_KEY}` },
      'x-api-key': { 'x-api-key': FOUNDER_KEY },
      'proxy-authorization': { 'proxy-authorization': bearer(FOUNDER_KEY) },
    }
    for (const headers of Object.values(otherHeaders)) {
      expect(await sendRequest(tenants(), 'GET', '/v1/tasks', { headers })).toEqual(REFUSED)
    }
    for (const query of ['access_token', 'api_key', 'key', 'token', 'authorization']) {
      expect(await sendRequest(tenants(), 'GET', `/v1/tasks?${query}=${FOUNDER_KEY}`)).toEqual(REFUSED)
    }
    expect(
      await sendRequest(tenants(), 'GET', '/v1/tasks', { authorization: `bEaReR   ${FOUNDER_KEY}` }),
    ).toMatchObject({ status: 200 })
  })

  test('an unknown route is 404 without a credential', async () => {
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
      const response = await sendRequest(tenants(), 'GET', path)
      expect([response.status, JSON.parse(response.text)]).toEqual([404, { error: `no such route: GET ${path}` }])
    }
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES]) {
      const response = await sendRequest(tenants(), 'PATCH', fillPath(route.path, tenants().ownProject.ids), {
        json: {},
      })
      expect(response.status, routeName(route)).toBe(404)
    }
  })

  async function expectRefused(routes: AnyRoute[], credentials: Record<string, string | null>) {
    for (const route of routes) {
      const path = fillPath(route.path, tenants().ownProject.ids)
      const sent = route.method === 'GET' ? {} : { raw: '{"' }
      await inParallel(Object.entries(credentials), async ([who, authorization]) => {
        const response = await sendRequest(tenants(), route.method, path, { authorization, ...sent })
        expect(response, `${routeName(route)} by ${who}`).toEqual(route.path === '/mcp' ? REFUSED_BY_MCP : REFUSED)
      })
    }
  }
})

/** Credentials that no plane accepts. */
async function invalidCredentials(app: TwoTenantApp): Promise<Record<string, string | null>> {
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
    'token without a scheme': FOUNDER_KEY,
    basic: `Basic ${Buffer.from(`${FOUNDER_KEY}:`).toString('base64')}`,
    'basic with the key': `Basic ${FOUNDER_KEY}`,
    'scheme without a token': 'Bearer',
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
