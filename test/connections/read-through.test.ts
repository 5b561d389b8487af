import { expect, test } from 'vitest'
import { readThroughConnection } from '../../src/connections/actions/read-through.ts'
import { writeSecret } from '../../src/connections/setup/write-secret.ts'
import { respondJson } from '../fake-upstream.ts'
import { anyStore } from '../stores.ts'
import { insertTestConnection, openTestContext, openUpstreamServer } from './test-context.ts'

const CANARY = 'canary-5ecret-value'
const request = { capability: 'crm', path: 'orders/7?full=1', arguments: null }
const status = (code: number) => expect.objectContaining({ status: code })

anyStore((store) => {
  test('a read is a GET below base_url with the secret', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const server = await openUpstreamServer((_, response) => respondJson(response, 200, { id: 7 }))
    const crm = await insertTestConnection(ctx, {
      config: { base_url: `${server.url}/v1`, api_url: 'http://127.0.0.1:9/' },
    })
    await writeSecret(ctx, scope, crm, CANARY)
    expect(await readThroughConnection(ctx, crm, request)).toEqual({
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

test('an error response of the server is a result with ok false', async () => {
  const { ctx } = await openTestContext()
  const server = await openUpstreamServer((_, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no'),
  )
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  expect(await readThroughConnection(ctx, crm, request)).toEqual({
    ok: false,
    status: 404,
    content_type: 'text/plain',
    body: 'no',
    error: 'upstream answered 404: no',
  })
})

test('a secret that the server echoes is masked', async () => {
  const { ctx, scope } = await openTestContext()
  const server = await openUpstreamServer(({ headers }, response) => response.end(`you sent ${headers.authorization}`))
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await writeSecret(ctx, scope, crm, CANARY)
  expect((await readThroughConnection(ctx, crm, request)).body).toBe('you sent Bearer [secret]')
})

test('a secret stored with a trailing space is masked in the trimmed form that the server echoes', async () => {
  const { ctx, scope } = await openTestContext()
  const server = await openUpstreamServer(({ headers }, response) =>
    respondJson(response, 200, { you: headers.authorization }),
  )
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await writeSecret(ctx, scope, crm, `${CANARY} `)
  expect((await readThroughConnection(ctx, crm, request)).body).toEqual({ you: 'Bearer [secret]' })
})

test.each(['https://evil.test/', '//evil.test', '/\\evil.test', '../x', '%2e%2e/x', 'a\r\nb'])(
  'the path %j is 400 and nothing is called',
  async (path) => {
    const { ctx } = await openTestContext()
    const server = await openUpstreamServer((_, response) => response.end())
    const crm = await insertTestConnection(ctx, { config: { base_url: `${server.url}/v1` } })
    await expect(readThroughConnection(ctx, crm, { ...request, path })).rejects.toEqual(status(400))
    expect(server.connections()).toBe(0)
  },
)

test('a redirect is 400, even to the same origin', async () => {
  const { ctx } = await openTestContext()
  const server = await openUpstreamServer((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  await expect(readThroughConnection(ctx, crm, request)).rejects.toEqual(status(400))
  expect(server.received).toHaveLength(1)
})

test('a response of 256 KB is returned, one byte more is 400', async () => {
  const { ctx } = await openTestContext()
  let size = 256 * 1024
  const server = await openUpstreamServer((_, response) => response.end('x'.repeat(size)))
  const crm = await insertTestConnection(ctx, { config: { base_url: server.url } })
  expect(String((await readThroughConnection(ctx, crm, request)).body)).toHaveLength(size)
  size++
  await expect(readThroughConnection(ctx, crm, request)).rejects.toEqual(status(400))
})

test('a timeout after 20 s is 504, an unreachable server 502, a private address 400', async () => {
  const { ctx, clock } = await openTestContext()
  const server = await openUpstreamServer(() => clock.jump(20_000))
  const slow = await insertTestConnection(ctx, { name: 'slow', config: { base_url: server.url } })
  const unreachable = await insertTestConnection(ctx, { name: 'gone', config: { base_url: 'http://127.0.0.1:9' } })
  const inside = await insertTestConnection(ctx, { name: 'inside', config: { base_url: 'http://169.254.169.254' } })
  await expect(readThroughConnection(ctx, slow, request)).rejects.toEqual(status(504))
  await expect(readThroughConnection(ctx, unreachable, request)).rejects.toEqual(status(502))
  await expect(readThroughConnection(ctx, inside, request)).rejects.toEqual(status(400))
})

test.each(['email', 'webhook', 'broker'])('a connection of kind %s cannot read a path', async (kind) => {
  const { ctx } = await openTestContext()
  const crm = await insertTestConnection(ctx, { kind, config: { base_url: 'http://127.0.0.1:9' } })
  await expect(readThroughConnection(ctx, crm, request)).rejects.toThrow(`no executor for kind '${kind}'`)
})
