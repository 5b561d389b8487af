import { expect, test } from 'vitest'
import { readThroughConnection } from '../../src/connections/read-through.ts'
import { writeSecret } from '../../src/vault/secrets.ts'
import { eachStore } from '../stores.ts'
import { insertTestConnection, openTestContext, openUpstreamServer } from './test-context.ts'
import { respondJson } from '../fake-upstream.ts'

const CANARY = 'canary-5ecret-value'
const ask = { capability: 'crm', path: 'orders/7?full=1', arguments: null }
const status = (code: number) => expect.objectContaining({ status: code })

eachStore((store) => {
  test('a read is a GET below the base with the bearer secret', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const server = await openUpstreamServer((_, response) => respondJson(response, 200, { id: 7 }))
    const crm = await insertTestConnection(ctx, {
      config: { base_url: `${server.url}/v1`, api_url: 'http://127.0.0.1:9/' },
    })
    await writeSecret(ctx, scope, crm, CANARY)
    expect(await readThroughConnection(ctx, crm, ask)).toEqual({
      ok: true,
      status: 200,
      content_type: 'application/json',
      body: { id: 7 },
    })
    expect(server.received).toMatchObject([
      { method: 'GET', url: '/v1/orders/7?full=1', headers: { authorization: `Bearer ${CANARY}` } },
    ])
  })
})

test('an upstream refusal is an answer with ok false', async () => {
  const { ctx } = await openTestContext()
  const server = await openUpstreamServer((_, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no'),
  )
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  expect(await readThroughConnection(ctx, crm, ask)).toEqual({
    ok: false,
    status: 404,
    content_type: 'text/plain',
    body: 'no',
  })
})

test('an echo of the secret is masked', async () => {
  const { ctx, scope } = await openTestContext()
  const server = await openUpstreamServer(({ headers }, response) => response.end(`you sent ${headers.authorization}`))
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await writeSecret(ctx, scope, crm, CANARY)
  expect((await readThroughConnection(ctx, crm, ask)).body).toBe('you sent Bearer [secret]')
})

test('an echo of a secret that was stored with a blank at its end is masked as it was heard', async () => {
  const { ctx, scope } = await openTestContext()
  const server = await openUpstreamServer(({ headers }, response) =>
    respondJson(response, 200, { you: headers.authorization }),
  )
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await writeSecret(ctx, scope, crm, `${CANARY} `)
  expect((await readThroughConnection(ctx, crm, ask)).body).toEqual({ you: 'Bearer [secret]' })
})

test.each(['https://evil.test/', '//evil.test', '/\\evil.test', '../x', '%2e%2e/x', 'a\r\nb'])(
  'path %j is 400 and nothing is called',
  async (path) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { base_url: `${server.url}/v1` } })
    await expect(readThroughConnection(ctx, crm, { ...ask, path })).rejects.toEqual(status(400))
    expect(server.connections()).toBe(0)
  },
)

test('a redirect is 400, even to the same origin', async () => {
  const { ctx } = await openTestContext()
  const server = await openUpstreamServer((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await expect(readThroughConnection(ctx, crm, ask)).rejects.toEqual(status(400))
  expect(server.received).toHaveLength(1)
})

test('256 KB pass and one byte more is 400', async () => {
  const { ctx } = await openTestContext()
  let size = 256 * 1024
  const server = await openUpstreamServer((_, response) => response.end('x'.repeat(size)))
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  expect(String((await readThroughConnection(ctx, crm, ask)).body)).toHaveLength(size)
  size++
  await expect(readThroughConnection(ctx, crm, ask)).rejects.toEqual(status(400))
})

test('an upstream that takes 20 s is 504, one that is not there 502, a private one 400', async () => {
  const { ctx, clock } = await openTestContext()
  const server = await openUpstreamServer(() => clock.jump(20_000))
  const slow = await insertTestConnection(ctx, { name: 'slow', config: { base_url: server.url } })
  const gone = await insertTestConnection(ctx, { name: 'gone', config: { base_url: 'http://127.0.0.1:9' } })
  const inside = await insertTestConnection(ctx, { name: 'inside', config: { base_url: 'http://169.254.169.254' } })
  await expect(readThroughConnection(ctx, slow, ask)).rejects.toEqual(status(504))
  await expect(readThroughConnection(ctx, gone, ask)).rejects.toEqual(status(502))
  await expect(readThroughConnection(ctx, inside, ask)).rejects.toEqual(status(400))
})

test.each(['email', 'webhook', 'broker'])('kind %s has no executor for such reads', async (kind) => {
  const { ctx } = await openTestContext()
  const crm = await insertTestConnection(ctx, { kind, config: { base_url: 'http://127.0.0.1:9' } })
  await expect(readThroughConnection(ctx, crm, ask)).rejects.toThrow(`no executor for kind '${kind}'`)
})
