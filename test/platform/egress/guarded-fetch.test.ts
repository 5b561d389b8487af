import { expect, test } from 'vitest'
import type { lookup } from 'node:dns'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { createStreamingFetch } from '../../../src/platform/egress/guarded-fetch.ts'
import { openUpstreamServer, worldWithTestClock } from '../../connections/test-context.ts'

const open = (settings: Record<string, string> = { SVC_EGRESS_ALLOW: '127.0.0.1' }, maxBytes = 1024) => {
  const over = new AbortController()
  const ctx = worldWithTestClock(loadConfig({ SVC_DATA_DIR: '/nowhere', ...settings }, '/nowhere'))
  return { over, ctx, fetch: createStreamingFetch(ctx, { signal: over.signal, maxBytes }) }
}

test('a streamed response is read while the server still writes it', async () => {
  const server = await openUpstreamServer((_, response) => void response.write('first'))
  const { fetch, over } = open()
  const response = await fetch(server.url, { method: 'POST', body: '{}' })
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toBe('first')
  over.abort()
  await expect(reader?.read()).rejects.toMatchObject({ kind: 'timeout', sent: true, status: 200 })
})

test('a stream of more bytes than allowed fails', async () => {
  const server = await openUpstreamServer((_, response) => response.end('x'.repeat(2000)))
  const response = await open().fetch(server.url)
  await expect(response.text()).rejects.toMatchObject({ kind: 'too_large' })
})

test('an abort ends a request that has no response yet', async () => {
  const { fetch, over } = open()
  const server = await openUpstreamServer(() => over.abort())
  await expect(fetch(server.url)).rejects.toMatchObject({ kind: 'timeout', sent: true, status: null })
  await expect(fetch(server.url)).rejects.toMatchObject({ kind: 'timeout' })
})

test('a stream is not opened to a private address, and redirects are returned', async () => {
  await expect(open({}).fetch('http://127.0.0.1:9/')).rejects.toMatchObject({ kind: 'blocked', sent: false })
  const server = await openUpstreamServer((_, response) => response.writeHead(307, { location: '/x' }).end())
  expect((await open().fetch(server.url)).status).toBe(307)
  expect(server.received).toHaveLength(1)
})

test('a name that resolves to a private address is blocked when the stream connects', async () => {
  const server = await openUpstreamServer((_, response) => response.end())
  const { ctx, over } = open({})
  const toPrivate = ((_host: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof lookup
  const fetch = createStreamingFetch(ctx, { signal: over.signal, maxBytes: 1024, lookup: toPrivate })
  await expect(fetch(`http://rebound.test:${server.port}/`)).rejects.toMatchObject({ kind: 'blocked' })
  expect(server.connections()).toBe(0)
})
