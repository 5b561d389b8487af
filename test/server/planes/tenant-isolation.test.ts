import { expect, test, vi } from 'vitest'
import { FOUNDER_KEY } from '../../app.ts'
import { anyStore } from '../../stores.ts'
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

// Thousands of requests take minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** Malformed ids, as they are written in a path. */
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

anyStore((store) => {
  const tenants = sharedTwoTenants(store)

  test('a resource of another tenant is the same 404 as an absent one, before the body is validated', async () => {
    const before = await readAllRows(tenants())
    for (const route of routesWithIds()) {
      for (const [who, sent, otherProjects] of callersOf(tenants(), route)) {
        for (const kind of pathKinds(route.path)) {
          const responses = new Set<string>()
          await inParallel(probes(tenants(), route, kind, otherProjects), async ([id, body]) => {
            const path = fillPath(route.path, { ...tenants().ownProject.ids, [kind]: id })
            const headers = { ...sent.headers, ...body.headers }
            const response = await sendRequest(tenants(), route.method, path, { ...sent, ...body, headers })
            expect(response.status, `${route.method} ${path} by ${who}: ${response.text}`).toBe(404)
            responses.add(JSON.stringify(response))
          })
          expect([...responses], `${routeName(route)} by ${who}`).toHaveLength(1)
          expect([...responses][0]).toMatch(/no such [a-z ]+\\"}/)
        }
      }
    }
    expect(await readAllRows(tenants())).toEqual(before)
  })

  test('a NUL character in a path is 400 before the id is looked up', async () => {
    const { ownProject, foreignProject } = tenants()
    for (const route of routesWithIds()) {
      const [kind = ''] = pathKinds(route.path)
      const paths = [ownProject, foreignProject].map(({ ids }) =>
        fillPath(route.path, { ...ownProject.ids, [kind]: `${ids[kind]}%00` }),
      )
      await inParallel(paths, async (path) => {
        const response = await sendRequest(tenants(), route.method, path, { authorization: bearer(ownProject.key) })
        expect([response.status, response.text]).toEqual([400, '{"error":"url must not contain nul characters"}'])
      })
    }
  })

  test('reads show no ids of other projects, with any filter', async () => {
    const { ownProject } = tenants()
    const foreign = foreignIds(tenants())
    const document = await readOpenApi(tenants())
    for (const route of FOUNDER_ROUTES.filter(({ method }) => method === 'GET')) {
      const path = fillPath(route.path, ownProject.ids)
      const queries = queryNames(findOperation(document, route)).flatMap((name) => foreignFilters(tenants(), name))
      await inParallel(['', ...queries], async (query) => {
        const { text } = await sendRequest(tenants(), 'GET', `${path}${query}`, {
          authorization: bearer(ownProject.key),
        })
        const shown = foreign.filter((id) => text.includes(id) && !query.includes(id))
        expect(shown, `GET ${path}${query}`).toEqual([])
      })
    }
  })

  test('a filter by an id of another project finds nothing', async () => {
    const { ownProject, foreignProject, siblingProject } = tenants()
    const filters = [
      'tasks?client_id',
      'tasks?case_id',
      'approvals?task_id',
      'connections?client_id',
      'cases?client_id',
    ]
    for (const filter of [...filters, 'threads?client_id', 'threads?channel_id', 'schedules?client_id']) {
      for (const { ids } of [siblingProject, foreignProject]) {
        const kind = `${/\?(.+)_id/.exec(filter)?.[1]}s`
        const { text } = await sendRequest(tenants(), 'GET', `/v1/${filter}=${ids[kind]}`, {
          authorization: bearer(ownProject.key),
        })
        if (!filter.startsWith('schedules')) expect(JSON.parse(text).data, filter).toEqual([])
      }
    }
  })

  test('an id of another project in a body gets the same error as an absent id', async () => {
    const document = await readOpenApi(tenants())
    const before = await readAllRows(tenants())
    const tried: string[] = []
    for (const route of FOUNDER_ROUTES.filter(({ method }) => method !== 'GET')) {
      const sample = sampleBodies(tenants().ownProject)[routeName(route)] ?? {}
      for (const [field, kind, nest] of references(bodyFields(document, findOperation(document, route)))) {
        const path = fillPath(route.path, { ...tenants().ownProject.ids, ...ABSENT_BLUEPRINT })
        // The members of the sibling project are the members of the own organisation.
        const siblings = kind === 'members' ? [] : [tenants().siblingProject]
        const otherIds = [...siblings, tenants().foreignProject].map(({ ids }) => ids[kind] ?? '')
        const ids = [...otherIds, absentId(kind)]
        const errors = new Set<string>()
        for (const id of ids) {
          const json = { ...sample, ...nest(id) }
          const response = await sendRequest(tenants(), route.method, path, {
            // The apps of the MCP endpoint belong to members.
            authorization: bearer(route.path.startsWith('/v1/mcp-') ? tenants().sessions.owner : FOUNDER_KEY),
            json,
          })
          expect([400, 404], `${routeName(route)} ${field}: ${response.status} ${response.text}`).toContain(
            response.status,
          )
          errors.add(response.text.replaceAll(id, 'ID'))
        }
        expect([...errors], `${routeName(route)} ${field}`).toHaveLength(1)
        tried.push(`${routeName(route)} ${field}`)
      }
    }
    expect(await readAllRows(tenants())).toEqual(before)
    expect(tried).toEqual(expect.arrayContaining(['POST /v1/channels connection_id', 'POST /v1/cases client_id']))
  })

  test('a member of another organisation cannot select a project by id or slug', async () => {
    const { ownProject, siblingProject, foreignProject, sessions, foreignOwner } = tenants()
    const projects = [
      ownProject.ids.projects ?? '',
      siblingProject.ids.projects ?? '',
      'sibling',
      'x',
      '..',
      '__proto__',
    ]
    for (const route of FOUNDER_ROUTES) {
      const path = fillPath(route.path, foreignProject.ids)
      await inParallel(projects, async (project) => {
        const headers = { 'x-svc-project': project }
        const response = await sendRequest(tenants(), route.method, path, {
          authorization: bearer(foreignOwner),
          headers,
        })
        expect([response.status, response.text], routeName(route)).toEqual([404, '{"error":"no such project"}'])
      })
    }
    const headers = { 'x-svc-project': foreignProject.ids.projects ?? '' }
    const response = await sendRequest(tenants(), 'GET', '/v1/tasks', {
      authorization: bearer(sessions.owner),
      headers,
    })
    expect(response.status).toBe(404)
    expect(
      (await sendRequest(tenants(), 'GET', '/v1/tasks', { authorization: bearer(FOUNDER_KEY), headers })).status,
    ).toBe(404)
  })
})

/** Bodies that would be 400 or 415 if the service validated them. */
const BODIES: RequestOptions[] = [
  {},
  { raw: '{"' },
  { json: [] },
  { raw: 'x', headers: { 'content-type': 'text/plain' } },
]

const ABSENT_BLUEPRINT = { slug: 'absent' }

const routesWithIds = (): AnyRoute[] =>
  FOUNDER_ROUTES.filter(({ path }) => pathKinds(path).some((kind) => kind !== 'toolkit'))

/** The callers that may use the route, each with the projects that it must not reach. */
function callersOf(
  { ownProject, siblingProject, foreignProject, sessions }: TwoTenantApp,
  { path }: AnyRoute,
): [string, RequestOptions, SeededProject[]][] {
  const headers = { 'x-svc-project': ownProject.ids.projects ?? '' }
  const member: [string, RequestOptions] = ['a member', { authorization: bearer(sessions.owner), headers }]
  // Members belong to the organisation, not to a project, and keys never see them.
  if (path.startsWith('/v1/members')) return [[...member, [foreignProject]]]
  if (path.startsWith('/v1/me/')) return [[...member, [siblingProject, foreignProject]]]
  return [
    ['a key', { authorization: bearer(ownProject.key) }, [siblingProject, foreignProject]],
    [...member, [siblingProject, foreignProject]],
  ]
}

/** Ids that the caller must not reach: those of other projects with every body, malformed ones with one body. */
function probes(
  { ownProject }: TwoTenantApp,
  { method }: AnyRoute,
  kind: string,
  otherProjects: SeededProject[],
): [string, RequestOptions][] {
  const own = ownProject.ids[kind] ?? ''
  const isName = ['wedge', 'slug', 'delivery', 'name', 'kind'].includes(kind)
  const others = isName ? [] : [...otherProjects.map(({ ids }) => ids[kind] ?? ''), absentId(kind)]
  const variants = [own.toUpperCase(), `${own}%20`, `${own}.`, `${own}%2f`]
  const malformed = [...(isName ? [] : idsOfOtherKinds(ownProject, kind)), ...variants, ...MALFORMED]
  const bodies = method === 'GET' ? [{}] : BODIES
  return [
    ...others.flatMap((id) => bodies.map((body): [string, RequestOptions] => [id, body])),
    ...malformed.map((id): [string, RequestOptions] => [id, method === 'GET' ? {} : { raw: '{"' }]),
  ]
}

const PREFIX: Record<string, string> = { tasks: 'task', clients: 'cli', cases: 'case', connections: 'conn' }

const absentId = (kind: string): string => `${PREFIX[kind] ?? 'abs'}_00000000000000000000000000`

const idsOfOtherKinds = ({ ids }: SeededProject, kind: string): string[] =>
  ['tasks', 'clients'].filter((other) => other !== kind).map((other) => ids[other] ?? '')

/** Ids that a key of the own project must never read. */
function foreignIds({ siblingProject, foreignProject }: TwoTenantApp): string[] {
  const shared = ['wedge', 'toolkit', 'slug', 'delivery', 'name', 'kind']
  return [siblingProject, foreignProject].flatMap(({ ids }) =>
    Object.entries(ids)
      .filter(([kind]) => !shared.includes(kind))
      .map(([, id]) => id),
  )
}

function foreignFilters({ siblingProject, foreignProject }: TwoTenantApp, name: string): string[] {
  const kind = name === 'cursor' ? 'tasks' : `${name.replace(/_id$/, '')}s`
  const values = [siblingProject, foreignProject].map(({ ids }) => ids[kind]).filter((id) => id !== undefined)
  return values.map((id) => `?${name}=${id}`)
}

/** Fields with the id of another resource: name, kind of the resource, and a body with the id. */
function references(fields: Record<string, unknown>): [string, string, (id: string) => object][] {
  return Object.keys(fields).flatMap((field): [string, string, (id: string) => object][] => {
    if (field === 'owner') return [['owner.id', 'clients', (id) => ({ owner: { kind: 'client', id } })]]
    // `mail_connection_id` is the id of a connection.
    const noun = field.replace(/_id$/, '').split('_').at(-1)
    const kind = field === 'assignee_id' ? 'members' : `${noun}s`
    return field.endsWith('_id') && field !== 'external_id' ? [[field, kind, (id) => ({ [field]: id })]] : []
  })
}
