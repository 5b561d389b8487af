import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mcpRoutes } from '../../../src/server/mcp/routes.ts'
import { founderPlaneRoutes } from '../../../src/server/planes/founder.ts'
import { openPlaneRoutes } from '../../../src/server/planes/service-routes.ts'
import { portalRoutes } from '../../../src/conversations/portal/routes.ts'
import type { OpenApiOperation } from '../../../src/platform/http/openapi.ts'
import { FOUNDER_KEY, sharedApp } from '../../app.ts'
import { queryNames } from '../../server/planes/route-table.ts'

const METHODS = ['get', 'post', 'put', 'delete']

interface BoundRoute {
  method: string
  path: string
}

const boundRoutes: BoundRoute[] = [
  ...Object.values(openPlaneRoutes(() => 'running')).flat(),
  ...Object.values(founderPlaneRoutes).flat(),
  ...Object.values(portalRoutes),
  { method: 'GET', path: '/v1/meta' },
]
const inDocument = ({ method, path }: BoundRoute) => [path.replace(/:(\w+)/g, '{$1}'), method.toLowerCase()] as const

/** The lists that a key may read; the others refuse a key before they validate the query. */
const LISTS = /^\/v1\/(?!portal|broker|members|mcp-oauth)[^{]*$/

/** Lists that are sorted by name: any valid name is a cursor. */
const BY_NAME = ['/v1/wedges', '/v1/blueprints']

const operationsOf = (paths: Record<string, Record<string, OpenApiOperation>>): OpenApiOperation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

describe('the OpenAPI document', () => {
  const shared = sharedApp({ store: 'sqlite' })
  const document = async () => (await shared().call('GET', '/openapi.json', undefined, { key: null })).body

  test('the OpenAPI document has version 3.1 and needs no credential', async () => {
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

  test('every operation of the OpenAPI document has a description beyond its summary, and names the roles that it needs', async () => {
    const { paths } = await document()
    for (const { operationId, summary, description = '', security } of operationsOf(paths)) {
      const [own = '', role = ''] = description.split(/ ?(?=Every role may call it\.$|Needs the role [a-z ]+\.$)/)
      expect([operationId, role !== '']).toEqual([operationId, JSON.stringify(security) === '[{"founder":[]}]'])
      expect(own.length, operationId).toBeGreaterThan(10)
      expect(own.toLowerCase().replaceAll(/[^a-z]/g, ''), operationId).not.toBe(
        summary.toLowerCase().replaceAll(/[^a-z]/g, ''),
      )
    }
    expect(paths['/v1/tasks'].get.description).toMatch(/ Every role may call it\.$/)
    expect(paths['/v1/tasks'].post.description).toMatch(/ Needs the role operator or admin or owner\.$/)
    expect(paths['/v1/connections'].post.description).toMatch(/ Needs the role admin or owner\.$/)
  })

  test('an example of the OpenAPI document has the format of its field', async () => {
    const { components } = await document()
    const examples: string[] = []
    JSON.stringify(components.schemas, (_, value) => {
      if (value?.format === 'date-time' && value.example !== undefined) examples.push(value.example)
      return value
    })
    for (const example of examples) expect(example).toMatch(/^\d{4}-\d\d-\d\dT/)
    const { digest_at } = components.schemas.NotificationSettings.properties
    expect(digest_at).toMatchObject({ type: 'string', example: '09:00', pattern: expect.any(String) })
    expect(digest_at).not.toHaveProperty('format')
    expect(components.schemas.Task.properties.created_at).toMatchObject({ format: 'date-time' })
  })

  test('the OpenAPI document has the bounds that the service enforces', async () => {
    const { paths, components } = await document()
    for (const name of ['CreateTask', 'CreateSchedule', 'CreateChannel']) {
      const { wedge, task_type } = components.schemas[`${name}Request`].properties
      expect([name, wedge.minLength, task_type.minLength]).toEqual([name, 1, 1])
    }
    expect(components.schemas.CreateWebhookRequest.properties.url).toMatchObject({ minLength: 1, maxLength: 2000 })
    const header = paths['/v1/tasks'].post.parameters.find(({ name }: { name: string }) => name === 'Idempotency-Key')
    expect(header.schema).toEqual({ type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' })
    const empty = await shared().call('POST', '/v1/tasks', { wedge: '', task_type: 'say' })
    expect(empty).toMatchObject({ status: 400, body: { error: expect.stringContaining('wedge') } })
  })

  test('every error of POST /mcp matches its schema, and a notification has no body', async () => {
    const { sendMcpMessage } = mcpRoutes('0')
    const post = (body: unknown, headers = {}) => shared().call('POST', '/mcp', body, { headers })
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    for (const [expected, { status, body }] of [
      [404, await post(ping, { 'x-svc-project': 'absent' })],
      [400, await post({ jsonrpc: '1.0' })],
      [400, await post(ping, { 'mcp-protocol-version': '1999-01-01' })],
    ] as const) {
      expect(status).toBe(expected)
      const schema = sendMcpMessage.responses[status]
      expect(schema instanceof z.ZodType && schema.safeParse(body).success, JSON.stringify(body)).toBe(true)
    }
    const { paths } = await document()
    expect(paths['/mcp'].post.responses[202]).not.toHaveProperty('content')
    expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({ status: 202, body: '' })
  })

  test('the OpenAPI document declares every path parameter once, and all its references exist', async () => {
    const { paths, components } = await document()
    for (const [path, methods] of Object.entries<Record<string, { parameters?: { name: string; in: string }[] }>>(
      paths,
    )) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(methods)) {
        expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named)
      }
    }
    const references = [...JSON.stringify(paths).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
    for (const [, name = ''] of references) expect(Object.keys(components.schemas)).toContain(name)
    expect(/"\$ref":"#\/(?!components\/)|\$defs/.test(JSON.stringify({ paths, components }))).toBe(false)
    expect(paths['/v1/tasks'].post.responses['201'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Task',
    })
  })

  test('the OpenAPI document lists every route with the credential of its plane', async () => {
    const { paths, components } = await document()
    for (const route of boundRoutes) expect(paths).toHaveProperty([...inDocument(route)])
    expect(boundRoutes.length).toBe(Object.values<object>(paths).flatMap((methods) => Object.keys(methods)).length)
    const planes = Object.keys(components.securitySchemes)
    expect(planes).toEqual(['founder', 'client'])
    expect(paths['/v1/tasks'].post.security).toEqual([{ founder: [] }])
    expect(paths['/v1/portal/me'].get.security).toEqual([{ client: [] }])
    expect(paths['/health'].get.security).toEqual([])
  })

  test('an empty filter of a list is 400, and does not return all rows', async () => {
    const { paths } = await document()
    const filters = Object.entries<{ get?: OpenApiOperation }>(paths).flatMap(([path, { get }]) =>
      LISTS.test(path) && get ? queryNames(get).map((name) => `${path}?${name}=`) : [],
    )
    expect(filters).toContain('/v1/tasks?client_id=')
    for (const filter of filters) expect((await shared().call('GET', filter)).status, filter).toBe(400)
  })

  test('an invalid cursor, or one of another list, is 400 on every list', async () => {
    const { paths } = await document()
    const lists = Object.entries<{ get?: OpenApiOperation }>(paths).flatMap(([path, { get }]) =>
      LISTS.test(path) && get && queryNames(get).includes('cursor') ? [path] : [],
    )
    expect(lists).toEqual(expect.arrayContaining(['/v1/tasks', '/v1/wedges', '/v1/audit']))
    const otherPrefix = `org_${'0'.repeat(26)}`
    for (const path of lists) {
      const cursors = BY_NAME.includes(path) ? ['Zzz', 'a b'] : ['zzz', 'task_', otherPrefix]
      for (const cursor of cursors) {
        const { status, body } = await shared().call('GET', `${path}?cursor=${encodeURIComponent(cursor)}`)
        const error = "query 'cursor' must be a next_cursor of this list"
        expect({ path, cursor, status, body }).toEqual({ path, cursor, status: 400, body: { error } })
      }
    }
  })

  test('the OpenAPI document has the schema that validates the body', async () => {
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
      'files',
      'client_id',
    ])
  })

  test('every operation of the OpenAPI document has a unique id', async () => {
    const { paths } = await document()
    const names = operationsOf(paths).map(({ operationId }) => operationId)
    expect(names).toHaveLength(boundRoutes.length)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
    expect(paths['/v1/clients/{id}/portal-link'].post.operationId).toBe('createPortalLink')
  })

  test('the OpenAPI document names what clients are generated from', async () => {
    const { paths, components } = await document()
    const { mapping, propertyName } = components.schemas.Event.discriminator
    expect(propertyName).toBe('type')
    expect(Object.values(mapping)).toEqual(components.schemas.Event.oneOf.map(({ $ref }: { $ref: string }) => $ref))
    expect(mapping['task.finished']).toBe('#/components/schemas/TaskFinishedEvent')
    expect(components.schemas.TaskFinishedEvent.properties.data.properties.status.enum).toContain('rejected')
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['BlueprintList', 'Meta', 'Session', 'TaskList', 'Trace']),
    )
    const limits = operationsOf(paths).flatMap(({ parameters = [] }) =>
      parameters.flatMap((parameter) => ('name' in parameter && parameter.name === 'limit' ? [parameter.schema] : [])),
    )
    expect(limits.length).toBeGreaterThan(20)
    for (const schema of limits) expect(schema).toEqual({ type: 'integer', minimum: 1 })
    expect(JSON.stringify(components)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })

  test('the OpenAPI document says which bodies are required, and the service requires them', async () => {
    const { paths } = await document()
    expect(paths['/v1/tasks'].post.requestBody.required).toBe(true)
    expect(paths['/v1/approvals/{id}/approve'].post.requestBody.required).toBe(false)
    const requiring = Object.entries<Record<string, OpenApiOperation>>(paths).filter(
      ([path, { post }]) => /^\/v1\/[a-z]+$/.test(path) && post?.requestBody?.required,
    )
    expect(requiring.map(([path]) => path)).toEqual(
      expect.arrayContaining(['/v1/tasks', '/v1/records', '/v1/schedules']),
    )
    // These refuse a key before they read the body.
    const refusals: Record<string, number> = { '/v1/members': 403, '/v1/projects': 403, '/v1/decide': 401 }
    for (const [path] of requiring) expect((await shared().call('POST', path)).status, path).toBe(refusals[path] ?? 400)
  })

  test('the OpenAPI document names the request headers', async () => {
    const { paths, components } = await document()
    const headers = ({ parameters = [] }: OpenApiOperation) =>
      parameters.flatMap((parameter) => ('name' in parameter && parameter.in === 'header' ? [parameter.name] : []))
    expect(headers(paths['/v1/tasks'].post)).toEqual(['Idempotency-Key', 'traceparent', 'tracestate'])
    for (const path of ['/v1/tasks/{id}/events', '/v1/portal/tasks/{id}/events'])
      expect(headers(paths[path].get)).toEqual(['Last-Event-ID'])
    expect(components.parameters.Project).toMatchObject({ name: 'X-SVC-Project', in: 'header', required: false })
    for (const { security, parameters = [] } of operationsOf(paths)) {
      const isFounderRoute = JSON.stringify(security) === '[{"founder":[]}]'
      const references = parameters.flatMap((parameter) => ('$ref' in parameter ? [parameter.$ref] : []))
      expect(references.includes('#/components/parameters/Project')).toBe(isFounderRoute)
    }
  })

  test('the OpenAPI document names the response headers that responses have', async () => {
    const { paths, components } = await document()
    for (const { responses } of operationsOf(paths)) {
      for (const [status, response] of Object.entries(responses)) {
        if ('$ref' in response) continue
        expect(response.headers).toMatchObject({ 'x-request-id': { $ref: '#/components/headers/RequestId' } })
        expect('location' in response.headers).toBe(status === '201')
      }
    }
    expect(Object.keys(components.headers)).toEqual(['RequestId', 'Location', 'RetryAfter'])
    expect(Object.keys(paths['/v1/tasks'].post.responses['201'].headers)).toEqual([
      'x-request-id',
      'location',
      'idempotency-replayed',
      'x-svc-ignored-fields',
    ])
    const task = await shared().createTask()
    await shared().finished(task.id)
    const path = `/v1/tasks/${task.id}/feedback`
    const { headers, body } = await shared().call('POST', path, { note: 'ask first' })
    expect(headers.get('location')).toBe(`/v1/knowledge/${body.knowledge_id}`)
    expect((await shared().call('POST', path, { rating: 3 })).headers.get('location')).toBeNull()
  })

  test('the page /docs lists every operation, without scripts and without files of other servers', async () => {
    const { status, body, headers } = await shared().call('GET', '/docs', undefined, { key: null })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    for (const route of boundRoutes) {
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

describe('the server log', () => {
  const CANARY = 'canary-5f1d9c'
  const shared = sharedApp({ store: 'sqlite' })

  test('the server log contains no tokens and no payloads', async () => {
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
