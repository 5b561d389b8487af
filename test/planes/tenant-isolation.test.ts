import { expect, test, vi } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { eachStore } from '../stores.ts'
import { type TwoTenantApp, type SeededProject, sharedTwoTenants } from './two-tenants.ts'
import { readAllRows } from './all-rows.ts'
import { sampleBodies } from './sample-bodies.ts'
import {
  type AnyRoute,
  sendRequest,
  bearer,
  bodyFields,
  FOUNDER_ROUTES,
  pathKinds,
  routeName,
  findOperation,
  fillPath,
  queryNames,
  readOpenApi,
  type RequestOptions,
  inParallel,
} from './route-table.ts'

// Thousands of requests: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** What no id looks like, as it stands in a path. */
const MALFORMED = [
  '..%2f..%2fetc%2fpasswd',
  'x'.repeat(300),
  '%20',
  "'%20or%20'1'='1",
  '%F0%9F%92%A9',
  '__proto__',
  'null',
  '*',
]

eachStore((store) => {
  const estate = sharedTwoTenants(store)

  test('what is not in scope does not exist: one 404, whoever owns it, and before the body is judged', async () => {
    const before = await readAllRows(estate())
    for (const route of withIds()) {
      for (const [who, sent, places] of askers(estate(), route)) {
        for (const kind of pathKinds(route.path)) {
          const answers = new Set<string>()
          await inParallel(probes(estate(), route, kind, places), async ([id, body]) => {
            const path = fillPath(route.path, { ...estate().ownProject.ids, [kind]: id })
            const headers = { ...sent.headers, ...body.headers }
            const answer = await sendRequest(estate(), route.method, path, { ...sent, ...body, headers })
            expect(answer.status, `${route.method} ${path} by ${who}: ${answer.text}`).toBe(404)
            answers.add(JSON.stringify(answer))
          })
          expect([...answers], `${routeName(route)} by ${who}`).toHaveLength(1)
          expect([...answers][0]).toMatch(/no such [a-z ]+\\"}/)
        }
      }
    }
    expect(await readAllRows(estate())).toEqual(before)
  })

  test('a nul in an address is refused at the door, whatever else stands there', async () => {
    const { ownProject: near, foreignProject: far } = estate()
    for (const { path, method } of withIds()) {
      const [kind = ''] = pathKinds(path)
      const paths = [near, far].map(({ ids }) => fillPath(path, { ...near.ids, [kind]: `${ids[kind]}%00` }))
      await inParallel(paths, async (one) => {
        const answer = await sendRequest(estate(), method, one, { authorization: bearer(near.key) })
        expect([answer.status, answer.text]).toEqual([400, '{"error":"url must not contain nul characters"}'])
      })
    }
  })

  test('reads show nothing of others, whatever they are filtered by', async () => {
    const { ownProject: near } = estate()
    const foreign = foreignWords(estate())
    const document = await readOpenApi(estate())
    for (const route of FOUNDER_ROUTES.filter(({ method }) => method === 'GET')) {
      const path = fillPath(route.path, near.ids)
      const queries = queryNames(findOperation(document, route)).flatMap((name) => foreignFilters(estate(), name))
      await inParallel(['', ...queries], async (query) => {
        const { text } = await sendRequest(estate(), 'GET', `${path}${query}`, { authorization: bearer(near.key) })
        const shown = foreign.filter((id) => text.includes(id) && !query.includes(id))
        expect(shown, `GET ${path}${query}`).toEqual([])
      })
    }
  })

  test('a filter by something of others finds nothing', async () => {
    const { ownProject: near, foreignProject: far, siblingProject: beside } = estate()
    const filters = [
      'tasks?client_id',
      'tasks?case_id',
      'approvals?task_id',
      'connections?client_id',
      'cases?client_id',
    ]
    for (const filter of [...filters, 'threads?client_id', 'threads?channel_id', 'schedules?client_id']) {
      for (const { ids } of [beside, far]) {
        const kind = `${/\?(.+)_id/.exec(filter)?.[1]}s`
        const { text } = await sendRequest(estate(), 'GET', `/v1/${filter}=${ids[kind]}`, {
          authorization: bearer(near.key),
        })
        if (!filter.startsWith('schedules')) expect(JSON.parse(text).data, filter).toEqual([])
      }
    }
  })

  test('what a body names of others is as unknown as what is not there', async () => {
    const document = await readOpenApi(estate())
    const before = await readAllRows(estate())
    const tried: string[] = []
    for (const route of FOUNDER_ROUTES.filter(({ method }) => method !== 'GET')) {
      const sample = sampleBodies(estate().ownProject)[routeName(route)] ?? {}
      for (const [field, kind, nest] of references(bodyFields(document, findOperation(document, route)))) {
        const path = fillPath(route.path, { ...estate().ownProject.ids, ...OWN_FREE })
        const places = [estate().siblingProject, estate().foreignProject]
        const ids = [...places.map(({ ids }) => ids[kind] ?? ''), absentId(kind)]
        const answers = new Set<string>()
        for (const id of ids) {
          const json = { ...sample, ...nest(id) }
          const answer = await sendRequest(estate(), route.method, path, { authorization: bearer(FOUNDER_KEY), json })
          expect([400, 404], `${routeName(route)} ${field}: ${answer.status} ${answer.text}`).toContain(answer.status)
          answers.add(answer.text.replaceAll(id, 'ID'))
        }
        expect([...answers], `${routeName(route)} ${field}`).toHaveLength(1)
        tried.push(`${routeName(route)} ${field}`)
      }
    }
    expect(await readAllRows(estate())).toEqual(before)
    expect(tried).toEqual(expect.arrayContaining(['POST /v1/channels connection_id', 'POST /v1/cases client_id']))
  })

  test('a member of another organisation cannot enter a project, by id or by slug', async () => {
    const { ownProject: near, siblingProject: beside, foreignProject: far, sessions, foreignOwner: farOwner } = estate()
    const projects = [near.ids.projects ?? '', beside.ids.projects ?? '', 'beside', 'x', '..', '__proto__']
    for (const route of FOUNDER_ROUTES) {
      const path = fillPath(route.path, far.ids)
      await inParallel(projects, async (project) => {
        const headers = { 'x-svc-project': project }
        const answer = await sendRequest(estate(), route.method, path, { authorization: bearer(farOwner), headers })
        expect([answer.status, answer.text], routeName(route)).toEqual([404, '{"error":"no such project"}'])
      })
    }
    const headers = { 'x-svc-project': far.ids.projects ?? '' }
    const answer = await sendRequest(estate(), 'GET', '/v1/tasks', { authorization: bearer(sessions.owner), headers })
    expect(answer.status).toBe(404)
    expect(
      (await sendRequest(estate(), 'GET', '/v1/tasks', { authorization: bearer(FOUNDER_KEY), headers })).status,
    ).toBe(404)
  })
})

/** Bodies that would be 400 or 415 if anybody judged them. */
const BODIES: RequestOptions[] = [
  {},
  { raw: '{"' },
  { json: [] },
  { raw: 'x', headers: { 'content-type': 'text/plain' } },
]

const OWN_FREE = { slug: 'absent' }

const withIds = (): AnyRoute[] =>
  FOUNDER_ROUTES.filter(({ path }) => pathKinds(path).some((kind) => kind !== 'toolkit'))

/** Who may ask on a route, and whose things are strange to them. */
function askers(
  { ownProject: near, siblingProject: beside, foreignProject: far, sessions }: TwoTenantApp,
  { path }: AnyRoute,
): [string, RequestOptions, SeededProject[]][] {
  const headers = { 'x-svc-project': near.ids.projects ?? '' }
  const member: [string, RequestOptions] = ['a member', { authorization: bearer(sessions.owner), headers }]
  // Members stand above projects: only another organisation's are strange, and keys never see any.
  if (path.startsWith('/v1/members')) return [[...member, [far]]]
  return [
    ['a key', { authorization: bearer(near.key) }, [beside, far]],
    [...member, [beside, far]],
  ]
}

/** An id of the route made strange in every way; what others own with every body, the rest with one. */
function probes(
  { ownProject: near }: TwoTenantApp,
  { method }: AnyRoute,
  kind: string,
  places: SeededProject[],
): [string, RequestOptions][] {
  const own = near.ids[kind] ?? ''
  const named = ['wedge', 'slug', 'delivery'].includes(kind)
  const others = named ? [] : [...places.map(({ ids }) => ids[kind] ?? ''), absentId(kind)]
  const bent = [own.toUpperCase(), `${own}%20`, `${own}.`, `${own}%2f`]
  const odd = [...(named ? [] : wrongKinds(near, kind)), ...bent, ...MALFORMED]
  const bodies = method === 'GET' ? [{}] : BODIES
  return [
    ...others.flatMap((id) => bodies.map((body): [string, RequestOptions] => [id, body])),
    ...odd.map((id): [string, RequestOptions] => [id, method === 'GET' ? {} : { raw: '{"' }]),
  ]
}

const PREFIX: Record<string, string> = { tasks: 'task', clients: 'cli', cases: 'case', connections: 'conn' }

const absentId = (kind: string): string => `${PREFIX[kind] ?? 'abs'}_00000000000000000000000000`

const wrongKinds = ({ ids }: SeededProject, kind: string): string[] =>
  ['tasks', 'clients'].filter((other) => other !== kind).map((other) => ids[other] ?? '')

/** Ids that the first key must never read. Members belong to the organisation, wedges to the deployment. */
function foreignWords({ siblingProject: beside, foreignProject: far }: TwoTenantApp): string[] {
  const shared = ['wedge', 'toolkit', 'slug', 'delivery']
  return [beside, far].flatMap(({ ids }) =>
    Object.entries(ids)
      .filter(([kind]) => !shared.includes(kind))
      .map(([, id]) => id),
  )
}

function foreignFilters({ siblingProject: beside, foreignProject: far }: TwoTenantApp, name: string): string[] {
  const kind = name === 'cursor' ? 'tasks' : `${name.replace(/_id$/, '')}s`
  const values = [beside, far].map(({ ids }) => ids[kind]).filter((id) => id !== undefined)
  return values.map((id) => `?${name}=${id}`)
}

/** Fields that name something else, what they name, and how a body names it. */
function references(fields: Record<string, unknown>): [string, string, (id: string) => object][] {
  return Object.keys(fields).flatMap((field): [string, string, (id: string) => object][] => {
    if (field === 'owner') return [['owner.id', 'clients', (id) => ({ owner: { kind: 'client', id } })]]
    const kind = `${field.replace(/_id$/, '')}s`
    return field.endsWith('_id') && field !== 'external_id' ? [[field, kind, (id) => ({ [field]: id })]] : []
  })
}
