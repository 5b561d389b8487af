import { expect, test, vi } from 'vitest'
import type { OpenApiSchema } from '../../src/http/openapi-schemas.ts'
import { FOUNDER_KEY } from '../app.ts'
import { eachStore } from '../stores.ts'
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

// Thousands of requests: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** One of each kind, and what breaks stores and parsers: bounds of integers, long text, keys of objects' own. */
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

eachStore((store) => {
  const estate = sharedTwoTenants(store)

  test('a field of the wrong kind is 400 and named, and no value of a field is our fault', async () => {
    const document = await readOpenApi(estate())
    const client = await openPortalSession(estate(), estate().ownProject)
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].filter(
      ({ method }) => method !== 'GET',
    )) {
      const sample = sampleBodies(estate().ownProject)[routeName(route)]
      for (const [field, schema] of Object.entries(bodyFields(document, findOperation(document, route)))) {
        await inParallel(valuesFor(route), async (value) => {
          const answer = await send(route, client, { json: { ...sample, [field]: value } })
          const told = `${routeName(route)} ${field}=${JSON.stringify(value).slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 300)}`
          expect(faultOf(answer), told).toBe(null)
          if (sample && !mayBe(schema, value) && !DEAD_SUBJECTS.includes(answer.status)) {
            expect([answer.status, answer.text], told).toEqual([400, expect.stringContaining(`'${field}`)])
          }
        })
      }
      // What a value changed is put back for the routes that come.
      if (sample) await send(route, client, { json: sample })
    }
  })

  test('a body that is no JSON object is refused in words, by every route that takes one', async () => {
    const document = await readOpenApi(estate())
    const client = await openPortalSession(estate(), estate().ownProject)
    const routes = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES].filter(
      (route) => findOperation(document, route).requestBody,
    )
    // One reader of bodies serves all routes: the first of each plane gets the heavy ones.
    const heavy = [FOUNDER_ROUTES, CLIENT_ROUTES, OPEN_ROUTES].map((plane) =>
      plane.find((route) => routes.includes(route)),
    )
    for (const route of routes) {
      await inParallel([...LIGHT, ...(heavy.includes(route) ? heavyBodies() : [])], async ([what, sent]) => {
        const answer = await send(route, client, sent)
        const told = `${routeName(route)} with ${what}: ${answer.status} ${answer.text.slice(0, 200)}`
        expect(faultOf(answer), told).toBe(null)
        expect([400, 413, 415], told).toContain(answer.status)
      })
    }
  })

  test('no query is our fault', async () => {
    const document = await readOpenApi(estate())
    const client = await openPortalSession(estate(), estate().ownProject)
    for (const route of [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]) {
      // What a route does not know is ignored by all alike: one route is enough.
      const unknown = route.path === '/v1/tasks' ? ['unknown', '__proto__'] : []
      const queries = [...queryNames(findOperation(document, route)), ...unknown].flatMap((name) => [
        ...QUERIES.map((value) => `${name}=${value}`),
        `${name}=1&${name}=2`,
        `${name}[a]=1`,
      ])
      const asked = route.method === 'GET' ? queries : []
      await inParallel(asked, async (query) => {
        const answer = await send(route, client, {}, `?${query}`)
        expect(
          faultOf(answer),
          `${routeName(route)} ?${query.slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 200)}`,
        ).toBe(null)
      })
    }
  })

  test('headers of ours that make no sense are 400 or 404', async () => {
    const { ids } = estate().ownProject
    const authorization = bearer(FOUNDER_KEY)
    const values = ['-1', '1.5', 'x', '1e3', '99999999999999999999', ' ', 'ÿþ', 'x'.repeat(4000)]
    for (const value of values) {
      const follow = await sendRequest(estate(), 'GET', `/v1/tasks/${ids.tasks}/events`, {
        authorization,
        headers: { 'last-event-id': value },
      })
      expect([200, 400], value).toContain(follow.status)
      const task = {
        authorization,
        json: sampleBodies(estate().ownProject)['POST /v1/tasks'],
        headers: { 'idempotency-key': value },
      }
      expect([201, 400], value).toContain((await sendRequest(estate(), 'POST', '/v1/tasks', task)).status)
      const named = { authorization, headers: { 'x-svc-project': value } }
      expect((await sendRequest(estate(), 'GET', '/v1/tasks', named)).status, value).toBe(404)
    }
  })

  function send(route: AnyRoute, client: string, sent: RequestOptions, query = ''): Promise<RawResponse> {
    const path = fillPath(route.path, estate().ownProject.ids) + query
    return sendRequest(estate(), route.method, path, { authorization: credentialFor(estate(), route, client), ...sent })
  }
})

/** Each password that could be one costs a hundred milliseconds by design. */
const valuesFor = ({ path }: AnyRoute): unknown[] =>
  path.startsWith('/v1/auth') ? VALUES.filter((value) => typeof value !== 'string' || value.length > 1024) : VALUES

/** Decided, closed, taken, signed out: what may be said of a subject before a field is looked at. */
const DEAD_SUBJECTS = [401, 404, 409, 429, 502]

/** As the owner where keys may not go. */
function credentialFor({ sessions }: TwoTenantApp, { path }: AnyRoute, client: string): string {
  if (path.startsWith('/v1/portal')) return bearer(client)
  return bearer(/^\/v1\/(members|projects|auth\/password)/.test(path) ? sessions.owner : FOUNDER_KEY)
}

function faultOf({ status, text }: RawResponse): string | null {
  if (status >= 500 && ![501, 502, 503, 504].includes(status)) return `is ${status}`
  return status >= 400 ? errorProblem(text) : null
}

/** Whether the reference lets a field be of the value's kind. Bounds and patterns are the route's own matter. */
function mayBe(schema: OpenApiSchema, value: unknown): boolean {
  const forms = (schema.anyOf ?? schema.oneOf) as OpenApiSchema[] | undefined
  if (forms) return forms.some((form) => mayBe(form, value))
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

/** What comes in the place of a JSON object. */
const LIGHT: [string, RequestOptions][] = [
  ['half an object', { raw: '{' }],
  ['a list', { raw: '[]' }],
  ['null', { raw: 'null' }],
  ['a nul', { raw: '{"a":"\\u0000"}' }],
  ['bytes that are no utf-8', { raw: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }],
  ['another content type', { raw: '{}', headers: { 'content-type': 'text/plain' } }],
]

function heavyBodies(): [string, RequestOptions][] {
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
    ['a content type of nonsense', { raw: '{}', headers: { 'content-type': ';;;' } }],
  ]
}
