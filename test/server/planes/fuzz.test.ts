import { describe, expect, test, vi } from 'vitest'
import type { OpenApiSchema } from '../../../src/platform/http/openapi-schemas.ts'
import { FOUNDER_KEY } from '../../app.ts'
import type { StoreKind } from '../../stores.ts'
import { type TwoTenantApp, openPortalSession, sharedTwoTenants } from './two-tenants.ts'
import { sampleBodies } from './sample-bodies.ts'
import {
  type AnyRoute,
  sendRequest,
  bearer,
  CLIENT_ROUTES,
  bodyFields,
  FOUNDER_ROUTES,
  routeName,
  OPEN_ROUTES,
  findOperation,
  fillPath,
  queryNames,
  type RawResponse,
  readOpenApi,
  type RequestOptions,
  inParallel,
  errorProblem,
} from './route-table.ts'
import { inMatrix } from '../../matrix.ts'

// Thousands of requests take minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** Values of every type, and values that break stores and parsers: integer bounds, long texts, prototype keys. */
const VALUES: unknown[] = [
  null,
  true,
  -1,
  2_147_483_648,
  Number.MAX_SAFE_INTEGER,
  1e308,
  '',
  '💩'.repeat(12_000),
  "'; drop table tasks; --",
  '\u202e\u0001\u007f',
  [],
  [null],
  Array.from({ length: 2000 }, () => 'a'),
  {},
  JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'),
  { kind: 'every', seconds: 1e18 },
  { kind: 'monthly', day: 0, hour: -1, minute: 1e9 },
  { kind: 'client' },
  { handle: '', name: 5 },
]

const QUERIES = [
  '',
  '-1',
  '2147483648',
  '9999999999',
  '99999999999999999999999',
  '[]',
  "'%20or%201=1--",
  'x'.repeat(3000),
  '%ff',
  '%ed%a0%80',
  '%',
  '%7B%22a%22:%7B%22$gt%22:%7B%7D%7D%7D',
  '%7B%22a%22:%7B%22$in%22:%5B%22%5Cu0000%22%5D%7D%7D',
  '%7B%22a%5Cu0000%22:1%7D',
  '%7B%22a%22:%22%5Cud800%22%7D',
  '%7B%22__proto__%22:1,%22a..b%22:2,%22%22:3%7D',
]

// PostgreSQL refuses more values than SQLite.
describe.each(inMatrix<StoreKind>(['sqlite', 'postgres'], ['postgres']))('on %s', (store) => {
  const tenants = sharedTwoTenants(store)

  test('a field of the wrong type is 400 with its name, and no value causes an internal error', async () => {
    const document = await readOpenApi(tenants())
    const client = await openPortalSession(tenants(), tenants().ownProject)
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].filter(
      ({ method }) => method !== 'GET',
    )) {
      const sample = sampleBodies(tenants().ownProject)[routeName(route)]
      for (const [field, schema] of Object.entries(bodyFields(document, findOperation(document, route)))) {
        await inParallel(valuesFor(route), async (value) => {
          const response = await send(route, client, { json: { ...sample, [field]: value } })
          const failure = `${routeName(route)} ${field}=${JSON.stringify(value).slice(0, 80)}: ${response.status} ${response.text.slice(0, 300)}`
          expect(faultOf(response), failure).toBe(null)
          if (sample && !allowsType(schema, value) && !EARLIER_REFUSALS.includes(response.status)) {
            expect([response.status, response.text], failure).toEqual([400, expect.stringContaining(`'${field}`)])
          }
        })
      }
      // Restores the fields for the routes that follow.
      if (sample) await send(route, client, { json: sample })
    }
  })

  test('every route with a body refuses one that is not a JSON object', async () => {
    const document = await readOpenApi(tenants())
    const client = await openPortalSession(tenants(), tenants().ownProject)
    const routes = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].filter(
      // A route that reads its body itself takes other content than JSON too.
      (route) => findOperation(document, route).requestBody && !route.streamsBody,
    )
    // All routes share one body parser, so only the first route of each plane gets all bodies.
    const firstRoutes = [FOUNDER_ROUTES, CLIENT_ROUTES, OPEN_ROUTES].map((plane) =>
      plane.find((route) => routes.includes(route)),
    )
    for (const route of routes) {
      await inParallel([...FEW_BODIES, ...(firstRoutes.includes(route) ? moreBodies() : [])], async ([what, sent]) => {
        const response = await send(route, client, sent)
        const failure = `${routeName(route)} with ${what}: ${response.status} ${response.text.slice(0, 200)}`
        expect(faultOf(response), failure).toBe(null)
        expect([400, 413, 415], failure).toContain(response.status)
      })
    }
  })

  test('no query causes an internal error', async () => {
    const document = await readOpenApi(tenants())
    const client = await openPortalSession(tenants(), tenants().ownProject)
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]) {
      // All routes ignore unknown parameters in the same way, so one route is enough.
      const unknown = route.path === '/v1/tasks' ? ['unknown', '__proto__'] : []
      const queries = [...queryNames(findOperation(document, route)), ...unknown].flatMap((name) => [
        ...QUERIES.map((value) => `${name}=${value}`),
        `${name}=1&${name}=2`,
        `${name}[a]=1`,
      ])
      await inParallel(route.method === 'GET' ? queries : [], async (query) => {
        const response = await send(route, client, {}, `?${query}`)
        expect(
          faultOf(response),
          `${routeName(route)} ?${query.slice(0, 80)}: ${response.status} ${response.text.slice(0, 200)}`,
        ).toBe(null)
      })
    }
  })

  test("invalid values of the service's own headers are 400 or 404", async () => {
    const { ids } = tenants().ownProject
    const authorization = bearer(FOUNDER_KEY)
    const values = ['-1', '1.5', 'x', '1e3', '99999999999999999999', ' ', 'ÿþ', 'x'.repeat(4000)]
    for (const value of values) {
      const follow = await sendRequest(tenants(), 'GET', `/v1/tasks/${ids.tasks}/events`, {
        authorization,
        headers: { 'last-event-id': value },
      })
      expect([200, 400], value).toContain(follow.status)
      const task = {
        authorization,
        json: sampleBodies(tenants().ownProject)['POST /v1/tasks'],
        headers: { 'idempotency-key': value },
      }
      expect([201, 400], value).toContain((await sendRequest(tenants(), 'POST', '/v1/tasks', task)).status)
      const named = { authorization, headers: { 'x-svc-project': value } }
      expect((await sendRequest(tenants(), 'GET', '/v1/tasks', named)).status, value).toBe(404)
    }
  })

  function send(route: AnyRoute, client: string, sent: RequestOptions, query = ''): Promise<RawResponse> {
    const path = fillPath(route.path, tenants().ownProject.ids) + query
    return sendRequest(tenants(), route.method, path, {
      authorization: credentialFor(tenants(), route, client),
      ...sent,
    })
  }
})

/** A hash of a valid password takes 100 ms by design, so the sign-in routes get only invalid strings. */
const valuesFor = ({ path }: AnyRoute): unknown[] =>
  path.startsWith('/v1/auth') ? VALUES.filter((value) => typeof value !== 'string' || value.length > 1024) : VALUES

/** Refusals before a field is checked, such as of a decided approval or a closed case. */
const EARLIER_REFUSALS = [401, 404, 409, 429, 502]

/** A key, or the owner's session on routes that refuse keys. */
function credentialFor({ sessions, ownProject }: TwoTenantApp, { path }: AnyRoute, client: string): string {
  if (path.startsWith('/v1/decide')) return bearer(ownProject.decisionToken)
  if (path.startsWith('/v1/portal')) return bearer(client)
  return bearer(/^\/v1\/(members|projects|auth\/password|me\/|mcp-)/.test(path) ? sessions.owner : FOUNDER_KEY)
}

function faultOf({ status, text }: RawResponse): string | null {
  if (status >= 500 && ![501, 502, 503, 504].includes(status)) return `is ${status}`
  return status >= 400 ? errorProblem(text) : null
}

/** Whether the OpenAPI schema allows the type of the value; bounds and patterns are not checked. */
function allowsType(schema: OpenApiSchema, value: unknown): boolean {
  const forms = (schema.anyOf ?? schema.oneOf) as OpenApiSchema[] | undefined
  if (forms) return forms.some((form) => allowsType(form, value))
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (schema.const !== undefined) return schema.const === value
  switch (schema.type) {
    case 'string':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'integer':
      return Number.isInteger(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'null':
      return value === null
    default:
      return true
  }
}

/** Bodies that are not a JSON object. */
const FEW_BODIES: [string, RequestOptions][] = [
  ['half an object', { raw: '{' }],
  ['a list', { raw: '[]' }],
  ['null', { raw: 'null' }],
  ['a nul', { raw: '{"a":"\\u0000"}' }],
  ['invalid UTF-8', { raw: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }],
  ['another content type', { raw: '{}', headers: { 'content-type': 'text/plain' } }],
]

function moreBodies(): [string, RequestOptions][] {
  const deep = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
  const noise = Array.from({ length: 20 }, (_, seed) =>
    Uint8Array.from({ length: 200 }, (__, at) => (seed * 131 + at * 89 + ((at * at * seed) % 251)) % 256),
  )
  const texts = ['{"a":}', '1', '"x"', 'true', '{}{}', '\ufeff{}', '{"a":"\\ud800"}', '{"a":1e999}', 'NaN', "{'a':1}"]
  return [
    ...texts.map((raw): [string, RequestOptions] => [raw, { raw }]),
    ...noise.map((raw, at): [string, RequestOptions] => [`noise ${at}`, { raw }]),
    ['65 levels', { raw: deep(65) }],
    ['50,000 levels', { raw: deep(50_000) }],
    ['a megabyte and more', { raw: `{"a":"${'x'.repeat(1024 * 1024)}"}` }],
    ['a form', { raw: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['an invalid content type', { raw: '{}', headers: { 'content-type': ';;;' } }],
  ]
}
