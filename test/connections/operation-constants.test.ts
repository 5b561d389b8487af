import { describe, expect, test } from 'vitest'
import { buildOperationRequest } from '../../src/connections/operations/build-request.ts'
import { NO_FILES } from '../../src/work/files/payload-files.ts'
import { parseOperations } from '../../src/connections/operations/connection-operations.ts'
import type { JsonObject } from '../../src/platform/base/json.ts'
import { findConnection } from '../../src/connections/connection/rows.ts'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { testConnection } from '../../src/connections/setup/test-connection.ts'
import { respondJson } from '../fake-upstream.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, openUpstreamServer } from './test-context.ts'

const configOf = (operation: JsonObject): JsonObject => ({
  base_url: 'https://api.example.com',
  operations: [{ name: 'ask', method: 'POST', path: '/graphql', ...operation }],
})

describe('fixed fields of the body', () => {
  test('are sent together with the payload', () => {
    const { baseUrl, operations } = parseOperations(configOf({ fixed: { query: '{ me }' } }))
    const request = buildOperationRequest(baseUrl, operations[0] as never, { variables: { id: 1 } }, NO_FILES)
    expect(JSON.parse(String(request.body))).toEqual({ query: '{ me }', variables: { id: 1 } })
  })

  test('cannot be replaced by the payload', () => {
    const { baseUrl, operations } = parseOperations(configOf({ fixed: { query: '{ me }' } }))
    const build = () => buildOperationRequest(baseUrl, operations[0] as never, { query: '{ secrets }' }, NO_FILES)
    expect(build).toThrow("field 'query' is set by the operation 'ask'")
  })

  test.each([{ method: 'GET' }, { method: 'DELETE', body: 'none' }])('are refused without a body: %j', (operation) => {
    expect(() => parseOperations(configOf({ ...operation, fixed: { a: 1 } }))).toThrow('must not be set without a body')
  })
})

describe('an error in a response with a good status', () => {
  async function act(error_path: string, body: object) {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => respondJson(response, 200, body))
    const config = { ...configOf({ error_path }), base_url: server.url }
    const connection = await insertTestConnection(ctx, { name: 'api', config })
    const action = { capability: 'api:ask', payload: {}, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }
    const result = await sendAction(ctx, connection, action)
    return { result, connection: await findConnection(ctx.db, connection.id) }
  }

  test.each<[string, object]>([
    ['error', { ok: false, error: 'no_such_channel' }],
    ['errors', { errors: [{ message: 'no_such_channel' }] }],
    ['result.error', { result: { error: { code: 'no_such_channel' } } }],
  ])('at %s is the outcome failed, and the connection still works', async (path, body) => {
    const { result, connection } = await act(path, body)
    expect(result).toMatchObject({ outcome: 'failed', ok: false, status: 200, result: body })
    expect(result.error).toContain('no_such_channel')
    expect(connection).toMatchObject({ last_error: null })
  })

  test.each<[string, object]>([
    ['error', { ok: true }],
    ['error', { error: null }],
    ['errors', { errors: [], data: 1 }],
  ])('is not found at %s of %j', async (path, body) => {
    expect((await act(path, body)).result).toMatchObject({ outcome: 'ok', error: null })
  })
})

test('the test of a connection calls test_path below the base url', async () => {
  const { ctx, scope } = await openTestContext()
  const server = await openUpstreamServer((_, response) => respondJson(response, 200, {}))
  const config = { base_url: `${server.url}/v2`, test_path: '/users/me?fields=id' }
  const connection = await insertTestConnection(ctx, { name: 'api', config })
  expect(await testConnection(ctx, scope, connection)).toMatchObject({ ok: true, status: 200 })
  expect(server.received.map(({ url }) => url)).toEqual(['/v2/users/me?fields=id'])
  const outside = await insertTestConnection(ctx, { name: 'b', config: { ...config, test_path: '/../admin' } })
  expect(await testConnection(ctx, scope, outside)).toMatchObject({ ok: false })
  expect(server.received).toHaveLength(1)
})
