import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CALLER_AGENT, sharedGatedApp } from '../approvals/decisions/gated-app.ts'
import { readThroughConnection } from '../../src/connections/actions/read-through.ts'
import { sendAction } from '../../src/connections/actions/send-action.ts'
import { anyStore, writeFiles } from '../app.ts'
import { respondJson } from '../fake-upstream.ts'
import { act, addShop, read, runCalls, SHOP_OPERATIONS, SHOP_SECRET, shopWedgeFiles } from './operations-app.ts'
import { ACTIVE_RUN, insertTestConnection, openTestContext, openUpstreamServer } from './test-context.ts'

const agentDir = mkdtempSync(join(tmpdir(), 'svc-caller-'))
writeFiles(agentDir, CALLER_AGENT)
afterAll(() => rmSync(agentDir, { recursive: true, force: true }))

const HOSTILE_PARTS = [
  undefined,
  null,
  '',
  '   ',
  '.',
  '..',
  '../payouts',
  '..;x',
  'a/../../payouts',
  'a/b',
  '/etc/passwd',
  '\\..\\x',
  '%2e%2e',
  '%2E%2e%2fpayouts',
  '%252e%252e',
  '%2f%',
  'a%2fb',
  'a%5cb',
  'x%00',
  'a\tb',
  'a\r\nx: y',
  ['c1'],
  { id: 'c1' },
  true,
  'x'.repeat(1001),
]

anyStore((store) => {
  const shared = sharedGatedApp(store, {
    wedges: shopWedgeFiles(),
    env: { SVC_AGENT_COMMAND: 'node agent.mjs', SVC_AGENT_DIR: agentDir },
  })
  beforeAll(async () => void (await addShop(shared())))
  afterEach(() => {
    shared().outside.respond = (_request, response) => respondJson(response, 200, { done: true })
    shared().outside.received.length = 0
  })

  test('a path part that could leave the path is 400 for actions and reads, and nothing is sent', async () => {
    const app = shared()
    const { responses, taskId } = await runCalls(app, [
      ...HOSTILE_PARTS.map((customer) => act('remove', { customer })),
      ...HOSTILE_PARTS.map((id) => read('get', { id })),
    ])
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 400))
    expect(app.outside.connections()).toBe(0)
    expect((await app.call('GET', `/v1/approvals?task_id=${taskId}`)).body.data).toEqual([])
  })

  test('a header value with a line break, a nested one or a long one is 400', async () => {
    const app = shared()
    const values = ['a\r\nauthorization: x', 'a\nb', 'ü', ['a'], { a: 1 }, 'x'.repeat(4001), ' a']
    const { responses } = await runCalls(app, [
      ...values.map((tenant) => act('update', { customer: 'c', card: 'd', tenant })),
      ...values.map((tenant) => read('find', { tenant })),
    ])
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 400))
    for (const { body } of responses) expect(body.error).toMatch(/^field 'tenant' must/)
    expect(app.outside.connections()).toBe(0)
  })

  test('fields named __proto__ and constructor are plain data', async () => {
    const app = shared()
    const payload = JSON.parse('{"__proto__": {"customer": "c1"}, "constructor": {"prototype": {"x": 1}}}')
    const { responses } = await runCalls(app, [act('remove', payload), act('create', payload)])
    expect(responses.map(({ status }) => status)).toEqual([400, 200])
    expect(app.outside.received.map(({ url, body }) => [url, body])).toEqual([
      ['/v1/refunds', '__proto__[customer]=c1&constructor[prototype][x]=1'],
    ])
  })

  test('a second spelling of an amount is 400, so that the server sees the amount that a rule saw', async () => {
    const app = shared()
    const { responses } = await runCalls(app, [
      act('create', { amount: 1, 'amount[]': 900 }),
      act('create', { metadata: [{ 'a]': 1 }] }),
      act('pay', { line: { amount: 1, Amount: 900 } }),
      act('pay', { line: { amount: 1, '\u1d43mount': 900 } }),
      act('pay', { line: { amount: 1 }, LINE: { amount: 900 } }),
      act('pay', { line: { amount: 1 }, currency: 'usd', 'currency ': 'eur' }),
    ])
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400])
    expect(responses[2]?.body.error).toBe("field 'Amount' differs from 'line.amount' only in its spelling")
    expect(app.outside.received).toEqual([])
  })

  test('a very long query and very deep arguments are 400', async () => {
    const app = shared()
    let deep: unknown = 1
    for (let level = 0; level < 40; level++) deep = { deep }
    const { responses } = await runCalls(app, [
      read('find', { customer: 'x'.repeat(9000) }),
      act('create', { deep }),
      act('create', 'text'),
    ])
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400])
    expect(app.outside.received).toEqual([])
  })

  test('a redirect is not followed, and the secret is masked in results', async () => {
    const app = shared()
    app.outside.respond = ({ url, headers }, response) => {
      if (url.startsWith('/v1/charges/moved')) response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
      else if (url.startsWith('/v1/refunds')) response.writeHead(307, { location: '/v1/elsewhere' }).end()
      else respondJson(response, 200, { seen: headers.authorization })
    }
    const { responses } = await runCalls(app, [
      read('get', { id: 'moved' }),
      act('create', {}),
      read('find', {}),
      act('peek', {}),
    ])
    expect(responses.map(({ status, body }) => [status, body.ok])).toEqual([
      [400, undefined],
      [200, false],
      [200, true],
      [200, true],
    ])
    expect(app.outside.received).toHaveLength(4)
    expect(JSON.stringify(responses)).not.toContain(SHOP_SECRET)
  })
})

describe('destinations of operations', () => {
  const send = { capability: 'crm:create', payload: {}, idempotencyKey: 'apr_1', runSignal: ACTIVE_RUN }
  const getCharge = { capability: 'crm:get', path: null, arguments: { id: '1' } }

  test.each(['http://169.254.169.254/latest', 'http://[::ffff:169.254.169.254]/', 'http://10.0.0.1', 'http://0x7f.1'])(
    'an operation below %s is refused',
    async (base_url) => {
      const { ctx } = await openTestContext({ env: { SVC_EGRESS_ALLOW: '' } })
      const crm = await insertTestConnection(ctx, { config: { base_url, operations: SHOP_OPERATIONS } })
      const refused = expect.stringContaining('destination is not allowed')
      expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'failed', error: refused })
      await expect(readThroughConnection(ctx, crm, getCharge)).rejects.toMatchObject({ status: 400, message: refused })
    },
  )

  test('a name that resolves to a private address when the call is made is refused', async () => {
    const { ctx } = await openTestContext({ env: { SVC_EGRESS_ALLOW: '' } })
    const server = await openUpstreamServer((_, response) => response.end())
    const config = { base_url: `http://localhost:${server.port}`, operations: SHOP_OPERATIONS }
    const crm = await insertTestConnection(ctx, { config })
    const refused = expect.stringContaining('destination is not allowed')
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'failed', error: refused })
    await expect(readThroughConnection(ctx, crm, getCharge)).rejects.toMatchObject({ status: 400, message: refused })
    expect(server.connections()).toBe(0)
  })

  test('operations that were stored before they were valid are 400 at use', async () => {
    const { ctx } = await openTestContext()
    const config = { base_url: 'http://127.0.0.1:9', operations: [{ name: 'create', path: '/../x' }] }
    const crm = await insertTestConnection(ctx, { config })
    expect(await sendAction(ctx, crm, send)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('config.operations.0'),
    })
  })

  test('the status of a response that is too large decides by the success codes', async () => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.writeHead(200).end('x'.repeat(300_000)))
    const operations = [{ name: 'create', method: 'POST', path: '/x', success: [201] }]
    const crm = await insertTestConnection(ctx, { config: { base_url: server.url, operations } })
    expect(await sendAction(ctx, crm, send)).toMatchObject({ outcome: 'failed', ok: false, status: 200 })
  })
})
