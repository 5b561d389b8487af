import { describe, expect, test } from 'vitest'
import { founderPlaneRoutes } from '../../src/planes/founder.ts'
import { openPlaneRoutes } from '../../src/planes/service-routes.ts'
import { portalRoutes } from '../../src/portal/routes.ts'
import type { OpenApiOperation } from '../../src/http/openapi.ts'
import { FOUNDER_KEY, sharedApp } from '../app.ts'
import { queryNames } from '../planes/route-table.ts'

const METHODS = ['get', 'post', 'put', 'delete']

interface Bound {
  method: string
  path: string
}

const bound: Bound[] = [
  ...Object.values(openPlaneRoutes(() => false)).flat(),
  ...Object.values(founderPlaneRoutes).flat(),
  ...Object.values(portalRoutes),
  { method: 'GET', path: '/v1/meta' },
]
const inDocument = ({ method, path }: Bound) => [path.replace(/:(\w+)/g, '{$1}'), method.toLowerCase()] as const

/** Without those that a key is refused before its question is read. */
const LISTS = /^\/v1\/(?!portal|broker|members)[^{]*$/

/** What has no age is listed by name, so that any name is a place to go on from. */
const BY_NAME = ['/v1/wedges', '/v1/blueprints']

const operationsOf = (paths: Record<string, Record<string, OpenApiOperation>>): OpenApiOperation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

describe('the reference', () => {
  const shared = sharedApp({ store: 'sqlite' })
  const document = async () => (await shared().call('GET', '/openapi.json', undefined, { key: null })).body

  test('is an OpenAPI 3.1 document, open to everybody', async () => {
    const { status, body, headers } = await shared().call('GET', '/openapi.json', undefined, { key: null })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body.openapi).toMatch(/^3\.1\.\d+$/)
    expect(body.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    for (const [path, methods] of Object.entries<Record<string, object>>(body.paths)) {
      expect(path).toMatch(/^\//)
      for (const [method, operation] of Object.entries(methods)) {
        expect(METHODS).toContain(method)
        expect(operation).toMatchObject({ summary: expect.stringMatching(/./), responses: { default: {} } })
      }
    }
  })

  test('declares each parameter of a path once, and no reference leads nowhere', async () => {
    const { paths, components } = await document()
    for (const [path, methods] of Object.entries<Record<string, { parameters?: { name: string; in: string }[] }>>(
      paths,
    )) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(methods)) {
        expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(named)
      }
    }
    const references = [...JSON.stringify(paths).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
    for (const [, name = ''] of references) expect(Object.keys(components.schemas)).toContain(name)
    expect(/"\$ref":"#\/(?!components\/)|\$defs/.test(JSON.stringify({ paths, components }))).toBe(false)
    expect(paths['/v1/tasks'].post.responses['201'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Task',
    })
  })

  test('has every route that is bound, with the credential of its plane', async () => {
    const { paths, components } = await document()
    for (const route of bound) expect(paths).toHaveProperty([...inDocument(route)])
    expect(bound.length).toBe(Object.values<object>(paths).flatMap((methods) => Object.keys(methods)).length)
    const planes = Object.keys(components.securitySchemes)
    expect(planes).toEqual(['founder', 'client'])
    expect(paths['/v1/tasks'].post.security).toEqual([{ founder: [] }])
    expect(paths['/v1/portal/me'].get.security).toEqual([{ client: [] }])
    expect(paths['/health'].get.security).toEqual([])
  })

  test('an empty value of any filter of a list is 400, and not everything', async () => {
    const { paths } = await document()
    const filters = Object.entries<{ get?: OpenApiOperation }>(paths).flatMap(([path, { get }]) =>
      LISTS.test(path) && get ? queryNames(get).map((name) => `${path}?${name}=`) : [],
    )
    expect(filters).toContain('/v1/tasks?client_id=')
    for (const filter of filters) expect((await shared().call('GET', filter)).status, filter).toBe(400)
  })

  test('a cursor that no list has given, or that another list has, is 400 on every list', async () => {
    const { paths } = await document()
    const lists = Object.entries<{ get?: OpenApiOperation }>(paths).flatMap(([path, { get }]) =>
      LISTS.test(path) && get && queryNames(get).includes('cursor') ? [path] : [],
    )
    expect(lists).toEqual(expect.arrayContaining(['/v1/tasks', '/v1/wedges', '/v1/audit']))
    const orphan = `org_${'0'.repeat(26)}`
    for (const path of lists) {
      const given = BY_NAME.includes(path) ? ['Zzz', 'a b'] : ['zzz', 'task_', orphan]
      for (const cursor of given) {
        const { status, body } = await shared().call('GET', `${path}?cursor=${encodeURIComponent(cursor)}`)
        const error = "query 'cursor' must be a next_cursor of this list"
        expect({ path, cursor, status, body }).toEqual({ path, cursor, status: 400, body: { error } })
      }
    }
  })

  test('describes the body that the service judges by', async () => {
    const { paths, components } = await document()
    expect(paths['/v1/tasks'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/CreateTaskRequest',
    })
    const schema = components.schemas.CreateTaskRequest
    expect(schema.required).toEqual(['wedge', 'task_type'])
    expect(Object.keys(schema.properties)).toEqual([
      'wedge',
      'task_type',
      'input',
      'actor',
      'constraints',
      'tools',
      'output_schema',
    ])
  })

  test('gives every operation a name of its own, by which clients are generated', async () => {
    const { paths } = await document()
    const names = operationsOf(paths).map(({ operationId }) => operationId)
    expect(names).toHaveLength(bound.length)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
    expect(paths['/v1/clients/{id}/portal-link'].post.operationId).toBe('createPortalLink')
  })

  test('says which bodies cannot be left out, and the service holds them for needed', async () => {
    const { paths } = await document()
    expect(paths['/v1/tasks'].post.requestBody.required).toBe(true)
    expect(paths['/v1/approvals/{id}/approve'].post.requestBody.required).toBe(false)
    const needing = Object.entries<Record<string, OpenApiOperation>>(paths).filter(
      ([path, { post }]) => /^\/v1\/[a-z]+$/.test(path) && post?.requestBody?.required,
    )
    expect(needing.map(([path]) => path)).toEqual(expect.arrayContaining(['/v1/tasks', '/v1/records', '/v1/schedules']))
    for (const [path] of needing.filter(([one]) => one !== '/v1/members' && one !== '/v1/projects'))
      expect((await shared().call('POST', path)).status, path).toBe(400)
  })

  test('names the headers that requests may carry', async () => {
    const { paths, components } = await document()
    const headers = ({ parameters = [] }: OpenApiOperation) =>
      parameters.flatMap((one) => ('name' in one && one.in === 'header' ? [one.name] : []))
    expect(headers(paths['/v1/tasks'].post)).toEqual(['Idempotency-Key'])
    for (const path of ['/v1/tasks/{id}/events', '/v1/portal/tasks/{id}/events'])
      expect(headers(paths[path].get)).toEqual(['Last-Event-ID'])
    expect(components.parameters.Project).toMatchObject({ name: 'X-SVC-Project', in: 'header', required: false })
    for (const { security, parameters = [] } of operationsOf(paths)) {
      const founders = JSON.stringify(security) === '[{"founder":[]}]'
      expect(parameters.some((one) => '$ref' in one && one.$ref === '#/components/parameters/Project')).toBe(founders)
    }
  })

  test('names the headers of answers, as answers have them', async () => {
    const { paths, components } = await document()
    for (const { responses } of operationsOf(paths)) {
      for (const [status, answer] of Object.entries(responses)) {
        if ('$ref' in answer) continue
        expect(answer.headers).toMatchObject({ 'x-request-id': { $ref: '#/components/headers/RequestId' } })
        expect('location' in answer.headers).toBe(status === '201')
      }
    }
    expect(Object.keys(components.headers)).toEqual(['RequestId', 'Location', 'RetryAfter'])
    expect(Object.keys(paths['/v1/tasks'].post.responses['201'].headers)).toEqual([
      'x-request-id',
      'location',
      'idempotency-replayed',
    ])
    const task = await shared().createTask()
    await shared().finished(task.id)
    const path = `/v1/tasks/${task.id}/feedback`
    const { headers, body } = await shared().call('POST', path, { note: 'ask first' })
    expect(headers.get('location')).toBe(`/v1/knowledge/${body.knowledge_id}`)
    expect((await shared().call('POST', path, { rating: 3 })).headers.get('location')).toBeNull()
  })

  test('is readable at /docs, which lists every operation, runs nothing and loads nothing', async () => {
    const { status, body, headers } = await shared().call('GET', '/docs', undefined, { key: null })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    for (const route of bound) {
      const [path, method] = inDocument(route)
      expect(body).toContain(`<b class="${method}">${method.toUpperCase()}</b> <code>${path}</code>`)
    }
    expect(body).toContain('<code>last_event_id</code>')
    expect(body).toContain('<code>Idempotency-Key</code>')
    expect(body).toContain('<code>X-SVC-Project</code>')
    expect(body).toContain('<code>started_at</code><sup>required</sup><td>string | null')
    expect(body).toContain('/openapi.json')
    expect(body).not.toMatch(/<script|src=|https?:/)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  })
})

describe('the log of the service', () => {
  const CANARY = 'canary-5f1d9c'
  const shared = sharedApp({ store: 'sqlite' })

  test('has neither tokens nor payloads, whatever comes', async () => {
    const app = shared()
    const task = await app.createTask({ input: { text: CANARY }, actor: CANARY, task_type: 'checked' })
    await app.finished(task.id)
    await app
      .createTask({ input: CANARY, output_schema: { type: 'array', title: CANARY } })
      .then(({ id }) => app.finished(id))
    await app.call('POST', `/v1/tasks/${task.id}/feedback`, { note: CANARY, correction: { to: CANARY } })
    await app.call('GET', `/v1/tasks?wedge=${CANARY}&status=${CANARY}`)
    await app.call('GET', `/v1/tasks/${CANARY}`)
    await app.call('POST', '/v1/tasks', undefined, { raw: `{"wedge":"${CANARY}"` })
    await app.call('POST', '/v1/tasks', { wedge: CANARY, task_type: CANARY })
    await app.call('GET', '/v1/tasks', undefined, { key: `svc_key_${CANARY}_0123456789abcdef` })
    await app.call('POST', '/v1/auth/login', { email: `${CANARY}@example.com`, password: `${CANARY} password` })
    await app
      .call('POST', '/v1/connections', { kind: 'email', name: 'mail' })
      .then(({ body }) => app.call('POST', `/v1/connections/${body.id}/secret`, { value: CANARY }))
    const log = app.logged.join('')
    expect(log).toContain('"request completed"')
    expect(log).not.toContain(CANARY)
    expect(log).not.toContain(FOUNDER_KEY)
    expect(log).not.toMatch(/svc_(key|fst|cst|plt|tsk|gat)_/)
  })
})
