import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  callsFor,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { Preset } from '../../../src/connections/presets/preset.ts'
import { anyStore } from '../../app.ts'
import { SHOP_YAML } from './openapi-document.ts'
import { callSvc } from './call-svc.ts'
import { temporaryFolder } from './run-svc.ts'

function shopFile(text = SHOP_YAML, name = 'shop.yaml'): string {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  return file
}

const importShop = (args: string[], options: object = {}, file = shopFile()) =>
  callSvc(['connection', 'import', 'openapi', file, ...args], options)

/** The preset that the import writes, without a service. */
async function presetOf(args: string[], file?: string) {
  const out = join(temporaryFolder(), 'preset.json')
  const { code, stderr } = await importShop(['--name', 'shop', ...args, '--preset-file', out], {}, file)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const preset = JSON.parse(readFileSync(out, 'utf8'))
  expect(Preset.parse(preset)).toEqual(preset)
  return { ...preset, notes: stderr }
}

describe('svc connection import openapi', () => {
  test('without an allow-list it lists the operations and imports none', async () => {
    const { code, stdout, stderr } = await importShop(['--name', 'shop'])
    expect(code).toBe(2)
    expect(stdout).toMatch(/post_refunds +POST +\/refunds +Refunds/)
    expect(stdout).toMatch(/get_refunds +GET +\/refunds/)
    expect(stderr).toContain('name the operations with --allow or --allow-tag')
    const { code: listed, lines } = await importShop(['--json'])
    expect(listed).toBe(0)
    expect(lines[0]).toMatchObject({ name: 'orders_get_one', operation_id: 'orders/get-one', method: 'GET' })
  })

  test('path, query, headers and body become one object of arguments, and a name is used once', async () => {
    const { config, title, docs } = await presetOf([
      '--allow',
      'updateOrder,orders/get-one',
      '--reads',
      'orders_get_one',
    ])
    expect({ title, docs }).toEqual({ title: 'Shop API', docs: 'https://shop.example/docs' })
    expect(config).toMatchObject({ base_url: 'https://eu.shop.example/v1', auth: { type: 'bearer' } })
    const [read, update] = config.operations
    expect(read).toMatchObject({
      name: 'orders_get_one',
      description: 'Read an order',
      method: 'GET',
      path: '/orders/{id}',
      query: { expand: '{expand}', 'created[gte]': '{created_gte}' },
      body: 'none',
      read: true,
    })
    expect(read.input_schema.properties.expand).toMatchObject({ type: 'string', enum: ['lines', 'customer'] })
    expect(read.headers).toBeUndefined()
    expect(update).toEqual({
      name: 'update_order',
      method: 'PUT',
      path: '/orders/{id_path}',
      query: { note: '{note}' },
      headers: { 'X-Reason': '{X-Reason}' },
      body: 'json',
      input_schema: {
        type: 'object',
        properties: {
          id_path: { type: 'string' },
          'X-Reason': { type: 'string' },
          note: { type: ['string', 'null'] },
          id: { type: 'string' },
          total: { type: 'number', minimum: 0 },
          parent: {},
          state: { type: ['string', 'null'], enum: ['open', 'paid', null] },
        },
        required: ['id_path', 'X-Reason', 'id', 'total'],
      },
    })
  })

  test('a GET is a read only if --reads names it, and tags name several operations', async () => {
    const { config, notes } = await presetOf(['--allow-tag', 'Refunds,Orders'])
    expect(config.operations.map(({ name, read = false }: { name: string; read?: boolean }) => [name, read])).toEqual([
      ['orders_get_one', false],
      ['update_order', false],
      ['get_refunds', false],
      ['post_refunds', false],
    ])
    expect(notes).toContain("orders_get_one: parameter 'session' is left out: it is in a cookie")
    const refund = config.operations.at(-1)
    expect(refund).toMatchObject({
      body: 'form',
      description: 'Create a refund.',
      idempotency_header: 'Idempotency-Key',
    })
  })

  test('JSON and OpenAPI 3.1 are accepted', async () => {
    const paths = { '/ping': { post: { responses: { '303': {} }, requestBody: { content: { 'text/csv': {} } } } } }
    const text = JSON.stringify({ openapi: '3.1.0', servers: [{ url: 'https://a.example' }], paths })
    const { config } = await presetOf(['--allow', 'POST /ping'], shopFile(text, 'a.json'))
    expect(config).toEqual({
      base_url: 'https://a.example',
      operations: [
        {
          name: 'post_ping',
          method: 'POST',
          path: '/ping',
          body: 'none',
          input_schema: { type: 'object', properties: {} },
          success: [303],
        },
      ],
    })
  })

  test.each([
    [['--auth', 'basic', '--username', 'kim'], { type: 'basic', username: 'kim' }],
    [
      ['--auth', 'oauth', '--client-id', 'app'],
      {
        type: 'oauth2',
        grant: 'authorization_code',
        authorize_url: 'https://shop.example/authorize',
        token_url: 'https://shop.example/token',
        client_id: 'app',
        scopes: [],
      },
    ],
  ])('the credential of %j', async (args, auth) => {
    expect((await presetOf(['--allow', 'PostRefunds', ...args])).config.auth).toEqual(auth)
  })

  test.each([
    [['--allow', 'PostRefund'], "option --allow: the document has no operation 'PostRefund'"],
    [['--allow-tag', 'None'], "no operation has the tag 'None'"],
    [['--allow', 'PostRefunds', '--reads', 'PostRefunds'], 'only a GET can be a read'],
    [['--allow', 'PostRefunds', '--reads', 'orders/get-one'], "'orders/get-one' is not imported"],
    [['--allow', 'upload'], "its field 'file' is a file"],
    [['--allow', 'sendList'], 'its body is not an object but "array"'],
    [['--allow', 'remoteSchema'], "it refers to 'https://elsewhere.example/report.json' outside the document"],
    [['--allow', 'PostRefunds', '--auth', 'basic'], '--username'],
    [['--allow', 'PostRefunds', '--auth', 'cookie'], "the service cannot use the security scheme 'cookie'"],
    [['--allow', 'PostRefunds', '--auth', 'none'], "the document has no security scheme 'none'"],
  ])('%j is refused: %s', async (args, message) => {
    const { code, stderr } = await importShop(['--name', 'shop', ...args])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain(message)
  })

  test.each([
    ['is Swagger "2.0"', '{"swagger": "2.0"}'],
    ['is not an OpenAPI 3.0 or 3.1 document', '{"openapi": "4.0.0"}'],
    ['is neither JSON nor YAML', 'a: [b'],
    ['is not an OpenAPI document', '- a'],
    ['has a variable without a default', SHOP_YAML.replace('default: eu', 'enum: [eu]')],
    ['is not a whole address', SHOP_YAML.replace('https://{region}.shop.example', '')],
  ])('a document that %s is refused', async (message, text) => {
    const { code, stderr } = await importShop(['--name', 'x', '--allow', 'PostRefunds'], {}, shopFile(text))
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain(message)
  })

  test('an operation with the same amount in two places is refused, because a limit would see only one', async () => {
    const number = { type: 'number' }
    const body = { content: { 'application/json': { schema: { type: 'object', properties: { amount: number } } } } }
    const pay = {
      operationId: 'pay',
      parameters: [{ name: 'amount', in: 'query', schema: number }],
      requestBody: body,
      responses: {},
    }
    const document = { openapi: '3.0.0', servers: [{ url: 'https://bank.example' }], paths: { '/pay': { post: pay } } }
    const { code, stderr } = await importShop(['--name', 'x', '--allow', 'pay'], {}, shopFile(JSON.stringify(document)))
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain("it has the amount 'amount' twice")
  })

  test('an address instead of a file is refused', async () => {
    const { code, stderr } = await importShop([], {}, 'https://shop.example/openapi.yaml')
    expect(code).toBe(2)
    expect(stderr).toContain("'https://shop.example/openapi.yaml' is not a file")
    expect(stderr).toContain('download the document first')
  })

  test('a chain of references without an end and a file with too many aliases are refused', async () => {
    const loop = SHOP_YAML.replace(
      'OrderId: { name: id, in: path, required: true, schema: { type: string } }',
      "OrderId: { $ref: '#/components/parameters/OrderId' }",
    )
    const looping = await importShop(['--name', 'x', '--allow', 'updateOrder'], {}, shopFile(loop))
    expect(looping.stderr).toContain('its references form a circle')
    const levels = Array.from({ length: 8 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`)
    const bomb = ['openapi: 3.0.0', 'l0: &l0 [x]', ...levels].join('\n')
    expect((await importShop(['--name', 'x', '--allow', 'y'], {}, shopFile(bomb))).stderr).toContain('alias')
  })
})

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', { connections: ['shop'] }) })

  test('operations of an imported connection reach the API after an approval', async () => {
    const { url, outside } = shared()
    const args = ['--name', 'shop', '--allow', 'PostRefunds', '--base-url', `${outside.url}/v1`]
    const { code, stdout, stderr } = await importShop(args, { url })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/^conn_\S+ created: connection 'shop'/)
    expect(stdout).toMatch(/shop:post_refunds +needs approval +POST \/refunds/)
    const [id = ''] = stdout.split(' ')
    expect(stderr).toContain(`POST /v1/connections/${id}/secret`)
    await shared().call('POST', `/v1/connections/${id}/secret`, { value: 'shop-secret' })
    const payload = { charge: 'ch_1', amount: 500, metadata: { order: 'A-1' } }
    const task = await startAction(shared(), { connection: 'shop', action: 'shop:post_refunds', payload })
    const approvalId = await requestedApprovalId(shared(), task.id)
    const { body: approval } = await shared().call('GET', `/v1/approvals/${approvalId}`)
    expect(approval.text).toBe('shop: create a refund')
    await shared().call('POST', `/v1/approvals/${approvalId}/approve`)
    expect((await shared().finished(task.id)).status).toBe('succeeded')
    const [sent] = callsFor(shared(), approvalId)
    expect(sent).toMatchObject({
      method: 'POST',
      url: '/v1/refunds',
      body: 'charge=ch_1&amount=500&metadata[order]=A-1',
      headers: { authorization: 'Bearer shop-secret', 'content-type': 'application/x-www-form-urlencoded' },
    })
    for (const auth of [
      ['--auth', 'basic', '--username', 'kim'],
      ['--auth', 'oauth', '--client-id', 'app'],
    ]) {
      const other = await importShop(['--name', `shop-${auth[1]}`, '--allow', 'PostRefunds', ...auth], { url })
      expect({ code: other.code, stderr: other.stderr }).toMatchObject({ code: 0 })
    }
    const again = await importShop(args, { url })
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("a connection named 'shop' already exists"),
    })
  })
})
