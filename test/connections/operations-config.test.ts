import { expect, test } from 'vitest'
import { anyStore, sharedApp } from '../app.ts'
import { blocks, page } from '../docs/pages.ts'

const BASE = 'https://api.shop.test/v1'
const REFUND = { name: 'refunds.create', method: 'POST', path: '/refunds', body: 'form' }

anyStore((store) => {
  const app = sharedApp({ store })
  let count = 0
  const create = (config: object, kind = 'custom') =>
    app().call('POST', '/v1/connections', { kind, name: `shop${++count}`, config })

  test('a connection with operations is created and shown as it was declared', async () => {
    const operations = [
      REFUND,
      {
        name: 'charges.get',
        description: 'One charge.',
        method: 'GET',
        path: '/charges/{id}.json',
        query: { expand: '{expand}', version: '2026-01', limit: 10 },
        headers: { 'x-tenant': '{tenant}', accept: 'application/vnd.shop+json' },
        body: 'none',
        read: true,
        success: [200, 404],
        input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      },
      {
        name: 'payouts-create',
        method: 'put',
        path: '/payouts/{account}/{id}',
        idempotency_header: 'X-Request-Id',
        amount: { path: 'line.amount', unit: 'minor', currency_path: 'currency' },
      },
    ]
    const { status, body } = await create({ base_url: BASE, operations })
    expect({ status, config: body.config }).toEqual({ status: 201, config: { base_url: BASE, operations } })
  })

  test.each([
    [{ ...REFUND, name: 'Refunds' }, 'config.operations.0.name', /slug/],
    [{ ...REFUND, name: 'a..b' }, 'config.operations.0.name', /slug/],
    [{ ...REFUND, name: 'a:b' }, 'config.operations.0.name', /slug/],
    [{ ...REFUND, name: '' }, 'config.operations.0.name', /slug/],
    [{ ...REFUND, name: undefined }, 'config.operations.0.name', /required/],
    [{ ...REFUND, method: 'TRACE' }, 'config.operations.0.method', /one of GET/],
    [{ ...REFUND, path: 'refunds' }, 'config.operations.0.path', /begin with/],
    [{ ...REFUND, path: '//evil.test/x' }, 'config.operations.0.path', /\/\//],
    [{ ...REFUND, path: '/a/../b' }, 'config.operations.0.path', /segments/],
    [{ ...REFUND, path: '/a/%2e%2e/b' }, 'config.operations.0.path', /characters/],
    [{ ...REFUND, path: '/a?x=1' }, 'config.operations.0.path', /use query/],
    [{ ...REFUND, path: '/a/{id' }, 'config.operations.0.path', /placeholder/],
    [{ ...REFUND, path: '/a/{{id}}' }, 'config.operations.0.path', /placeholder/],
    [{ ...REFUND, path: '/a/{customer.id}' }, 'config.operations.0.path', /placeholder/],
    [{ ...REFUND, path: '/a\r\nx: y' }, 'config.operations.0.path', /characters/],
    [{ ...REFUND, query: { a: 'x-{id}' } }, 'config.operations.0.query.a', /constant or/],
    [
      { ...REFUND, query: { a: ['x'] } },
      'config.operations.0.query.a',
      /must be a string or a number or true or false/,
    ],
    [{ ...REFUND, headers: { 'x-a': 'Bearer {id}' } }, 'config.operations.0.headers.x-a', /constant or/],
    [{ ...REFUND, headers: { Authorization: '{token}' } }, 'config.operations.0.headers.Authorization', /not be set/],
    [{ ...REFUND, headers: { host: 'evil.test' } }, 'config.operations.0.headers.host', /not be set/],
    [{ ...REFUND, headers: { 'Content-Length': '{n}' } }, 'config.operations.0.headers.Content-Length', /not be set/],
    [{ ...REFUND, headers: { cookie: '{c}' } }, 'config.operations.0.headers.cookie', /not be set/],
    [
      { ...REFUND, headers: { 'transfer-encoding': 'chunked' } },
      'config.operations.0.headers.transfer-encoding',
      /not/,
    ],
    [{ ...REFUND, headers: { 'content-type': '{t}' } }, 'config.operations.0.headers.content-type', /constant/],
    [{ ...REFUND, headers: { 'Content-Type': 'text/xml' } }, 'config.operations.0.headers', /content-type/],
    [{ ...REFUND, headers: { 'x-a': 'a\r\nb' } }, 'config.operations.0.headers.x-a', /printable/],
    [{ ...REFUND, headers: { 'x a': 'b' } }, 'config.operations.0.headers.x a', /name of a header/],
    [{ ...REFUND, headers: { 'Idempotency-Key': '{key}' } }, 'config.operations.0.headers', /idempotency/],
    [{ ...REFUND, idempotency_header: 'authorization' }, 'config.operations.0.idempotency_header', /service sets/],
    [{ ...REFUND, body: 'xml' }, 'config.operations.0.body', /one of json/],
    [{ ...REFUND, method: 'GET' }, 'config.operations.0.body', /none for a GET/],
    [{ ...REFUND, read: true }, 'config.operations.0.read', /only a GET/],
    [{ ...REFUND, success: [99] }, 'config.operations.0.success.0', /at least 200/],
    [{ ...REFUND, success: [] }, 'config.operations.0.success', /empty/],
    [{ ...REFUND, raed: true }, 'config.operations.0', /raed/],
    [{ ...REFUND, input_schema: { type: 'array' } }, 'config.operations.0.input_schema.type', /object/],
    [
      { ...REFUND, input_schema: { properties: { a: { type: 'text' } } } },
      'config.operations.0.input_schema.properties.a.type',
      /one of/,
    ],
    [{ ...REFUND, amount: { path: 'amount', unit: 'minor' } }, 'config.operations.0.amount', /currency/],
    [
      { ...REFUND, amount: { path: 'a..b', unit: 'minor', currency: 'usd' } },
      'config.operations.0.amount.path',
      /dots/,
    ],
    [{ ...REFUND, amount: { path: 'a', unit: 'cents', currency: 'usd' } }, 'config.operations.0.amount.unit', /major/],
  ])('the operation %j is refused, and the 400 names the field', async (operation, field, problem) => {
    const { status, body } = await create({ base_url: BASE, operations: [operation] })
    expect(status).toBe(400)
    expect(body.error).toContain(`field '${field}' `)
    expect(body.error).toMatch(problem)
  })

  test('names must be unique, and operations need a base url without query', async () => {
    const errorOf = async (config: object) => (await create(config)).body.error
    expect(await errorOf({ base_url: BASE, operations: [REFUND, { ...REFUND, method: 'PUT' }] })).toBe(
      "field 'config.operations.1.name' must not be used twice: refunds.create",
    )
    expect(await errorOf({ operations: [REFUND] })).toBe("field 'config.base_url' is required")
    expect(await errorOf({ base_url: `${BASE}?x=1`, operations: [REFUND] })).toMatch(/must not have a query/)
    expect(await errorOf({ base_url: 'ftp://x.test', operations: [REFUND] })).toMatch(/http or https/)
    expect(await errorOf({ base_url: 'https://a:b@x.test', operations: [REFUND] })).toMatch(/user or a password/)
    expect(await errorOf({ base_url: BASE, operations: [] })).toMatch(/must not be empty/)
    expect(await errorOf({ base_url: BASE, operations: 'all' })).toMatch(/must be a list/)
  })

  test('the example in the documentation is valid', async () => {
    const [example = ''] = blocks(page('docs/connections.md'), 'json')
    const { status, body } = await app().call('POST', '/v1/connections', JSON.parse(example))
    expect({ status, warnings: body.warnings }).toEqual({ status: 201, warnings: [] })
  })

  test('a change of the config is checked too, and configs without operations are not', async () => {
    const { body } = await create({ base_url: BASE, operations: [REFUND] })
    const wrong = { config: { base_url: BASE, operations: [{ ...REFUND, path: 'x' }] } }
    expect(await app().call('PUT', `/v1/connections/${body.id}`, wrong)).toMatchObject({ status: 400 })
    expect((await app().call('GET', `/v1/connections/${body.id}`)).body.config.operations).toEqual([REFUND])
    expect((await create({ base_url: 'not a url', api_url: 7 })).status).toBe(201)
    expect((await create({ operations: 'of another kind' }, 'webhook')).status).toBe(201)
  })
})
