import { type LookupAddress, lookup } from 'node:dns'
import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { isListedHost, isPrivateAddress, parseAllowedHosts } from '../../../src/platform/egress/address-rules.ts'
import { createEgressClient, type EgressError } from '../../../src/platform/egress/http-client.ts'
import { openUpstreamServer, worldWithTestClock } from '../../connections/test-context.ts'

const PRIVATE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://127.255.255.254/',
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://192.168.1.1:8080/',
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.170.2/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://168.63.129.16/',
  'http://[::ffff:168.63.129.16]/',
  'http://[::ffff:a83f:8110]/',
  'http://[64:ff9b::a83f:8110]/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:7f00:1::]/',
  'http://[2001:db8::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://１２７.０.０.１/',
  'http://①②⑦.⓪.⓪.①/',
]

const UNSUPPORTED = [
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://example.com/',
  'data:,x',
  'http://user:pw@example.com/',
  'nonsense',
  '//example.com',
]

const request = { method: 'GET', timeoutMs: 5_000, maxBytes: 1024 }

const allowing = (hosts: string) => worldWithTestClock(loadConfig({ SVC_EGRESS_ALLOW: hosts }))

/** A DNS lookup that returns the addresses of the test. */
const fakeLookup = (responses: (host: string) => string[]) =>
  ((host: string, _options: unknown, done: (error: null, addresses: LookupAddress[]) => void) =>
    done(
      null,
      responses(host).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as unknown as typeof lookup

async function failure(work: Promise<unknown>): Promise<EgressError> {
  return work.then(
    () => {
      throw new Error('the call succeeded')
    },
    (error) => error,
  )
}

describe('blocked addresses', () => {
  test.each([...PRIVATE, ...UNSUPPORTED])('%s is never called', async (url) => {
    const ctx = allowing('')
    const error = await failure(createEgressClient(ctx).request({ ...request, url }))
    expect(error).toMatchObject({ kind: 'blocked', sent: false })
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '168.63.129.15',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ])('%s is a public address', (address) => {
    expect(isPrivateAddress(address)).toBe(false)
  })

  test('text that is not an address counts as private', () => {
    expect(isPrivateAddress('example.com')).toBe(true)
    expect(isPrivateAddress('fe80::1%eth0')).toBe(true)
  })

  test.each([['127.0.0.1'], ['10.1.2.3'], ['::1'], ['::ffff:127.0.0.1'], ['fe80::1%eth0'], ['169.254.169.254']])(
    'a host name that resolves to %s is not called',
    async (address) => {
      const server = await openUpstreamServer((_, response) => response.end('ok'))
      const ctx = allowing('')
      const client = createEgressClient(ctx, { lookup: fakeLookup(() => ['93.184.215.14', address]) })
      const error = await failure(client.request({ ...request, url: `http://rebind.test:${server.port}/` }))
      expect(error).toMatchObject({ kind: 'blocked', sent: false })
      expect(server.connections()).toBe(0)
    },
  )

  test('a host name is looked up once, and the checked address is the one that is called', async () => {
    const server = await openUpstreamServer((_, response) => response.end('ok'))
    const ctx = allowing('127.0.0.1')
    const responses = [['127.0.0.1'], ['10.0.0.1']]
    let lookups = 0
    const client = createEgressClient(ctx, { lookup: fakeLookup(() => responses[lookups++] ?? []) })
    const { status } = await client.request({ ...request, url: `http://rebind.test:${server.port}/` })
    expect({ status, lookups }).toEqual({ status: 200, lookups: 1 })
    const second = await failure(client.request({ ...request, url: `http://rebind.test:${server.port}/` }))
    expect(second.kind).toBe('blocked')
  })

  test.each(['127.0.0.1', '127.0.0.0/8', 'inside.test', 'INSIDE.test'])(
    '%s in SVC_EGRESS_ALLOW allows the private host',
    async (entry) => {
      const server = await openUpstreamServer((_, response) => response.end('ok'))
      const ctx = allowing(entry)
      const client = createEgressClient(ctx, { lookup: fakeLookup(() => ['127.0.0.1']) })
      const { status } = await client.request({ ...request, url: `http://inside.test:${server.port}/` })
      expect(status).toBe(200)
    },
  )

  test.each(['127.0.0.1', '127.0.0.0/8', '[::ffff:7f00:1]', 'inside.test'])(
    '%s with a port in SVC_EGRESS_ALLOW allows this port only',
    async (host) => {
      const server = await openUpstreamServer((_, response) => response.end('ok'))
      const url = `http://inside.test:${server.port}/`
      const lookup = fakeLookup(() => [host.startsWith('[') ? '::ffff:127.0.0.1' : '127.0.0.1'])
      const open = createEgressClient(allowing(`${host}:${server.port}`), { lookup })
      expect((await open.request({ ...request, url })).status).toBe(200)
      const closed = createEgressClient(allowing(`${host}:${server.port === 80 ? 81 : 80}`), { lookup })
      expect((await failure(closed.request({ ...request, url }))).kind).toBe('blocked')
    },
  )

  test.each(['fd00::/8', '[fd00::]/8', 'fd00::1', '[fd00::1]', '[fd00::1]:443'])(
    '%s in SVC_EGRESS_ALLOW is accepted',
    (entry) => {
      expect(isListedHost(parseAllowedHosts([entry], 443), 'fd00::1')).toBe(true)
    },
  )

  test.each(['10.0.0.0/33', '10.0.0.0/x', '::/129', 'host/8', 'host:x', 'host:65536', '10.0.0.1:', 'http://10.0.0.1'])(
    '%s in SVC_EGRESS_ALLOW is an error',
    (entry) => {
      expect(() => parseAllowedHosts([entry], 80)).toThrow(/must be a host name, an address or a network/)
    },
  )

  test('an allowed host name does not allow another name with the same address', async () => {
    const ctx = allowing('inside.test')
    const client = createEgressClient(ctx, { lookup: fakeLookup(() => ['127.0.0.1']) })
    expect((await failure(client.request({ ...request, url: 'http://other.test/' }))).kind).toBe('blocked')
  })
})

describe('hostile servers', () => {
  test('a redirect is returned and not followed', async () => {
    const second = await openUpstreamServer((_, response) => response.end('secret'))
    const first = await openUpstreamServer((_, response) => response.writeHead(302, { location: second.url }).end())
    const ctx = allowing('127.0.0.1')
    const response = await createEgressClient(ctx).request({
      ...request,
      url: first.url,
      headers: { authorization: 'Bearer x' },
    })
    expect(response.status).toBe(302)
    expect(second.connections()).toBe(0)
  })

  test('an endless response body fails at the size limit', async () => {
    let written = 0
    const server = await openUpstreamServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1024))) written += 1024
      }
      response.on('drain', more)
      more()
    })
    const ctx = allowing('127.0.0.1')
    const error = await failure(createEgressClient(ctx).request({ ...request, url: server.url }))
    expect(error).toMatchObject({ kind: 'too_large', sent: true, status: 200 })
    expect(written).toBeLessThan(64 * 1024 * 1024)
  })

  test('a response body with a too large content-length is not read', async () => {
    const server = await openUpstreamServer((_, response) =>
      response.writeHead(200, { 'content-length': 1e9 }).write('x'),
    )
    const ctx = allowing('127.0.0.1')
    expect((await failure(createEgressClient(ctx).request({ ...request, url: server.url }))).kind).toBe('too_large')
  })

  test('compression is neither requested nor accepted', async () => {
    const server = await openUpstreamServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1e6))),
    )
    const ctx = allowing('127.0.0.1')
    expect((await failure(createEgressClient(ctx).request({ ...request, url: server.url }))).kind).toBe('unreadable')
    expect(server.received[0]?.headers['accept-encoding']).toBe('identity')
  })

  test('a server that never responds fails with a timeout after the request was sent', async () => {
    const ctx = allowing('127.0.0.1')
    const { clock } = ctx
    const server = await openUpstreamServer(() => clock.jump(5_000))
    expect(await failure(createEgressClient(ctx).request({ ...request, url: server.url }))).toMatchObject({
      kind: 'timeout',
      sent: true,
    })
    expect(clock.pendingTimers).toBe(0)
  })

  test('a server that responds slowly fails with the same timeout', async () => {
    const ctx = allowing('127.0.0.1')
    const { clock } = ctx
    const server = await openUpstreamServer((_, response) => {
      response.write('a', () => clock.jump(5_000))
    })
    const error = await failure(createEgressClient(ctx).request({ ...request, url: server.url }))
    expect(error).toMatchObject({ kind: 'timeout', sent: true })
  })

  test('a DNS lookup that never ends fails with a timeout before the request was sent', async () => {
    const ctx = allowing('127.0.0.1')
    const { clock } = ctx
    const silent = (() => queueMicrotask(() => clock.jump(5_000))) as unknown as typeof lookup
    const error = await failure(
      createEgressClient(ctx, { lookup: silent }).request({ ...request, url: 'http://slow.test/' }),
    )
    expect(error).toMatchObject({ kind: 'timeout', sent: false })
  })

  test('a closed port fails as unreachable before the request was sent', async () => {
    const ctx = allowing('127.0.0.1')
    const error = await failure(createEgressClient(ctx).request({ ...request, url: 'http://127.0.0.1:9/' }))
    expect(error).toMatchObject({ kind: 'unreachable', sent: false })
    expect(error.message).not.toContain('127.0.0.1')
  })

  test.each([
    ['nothing', ''],
    ['nonsense', 'nonsense\r\n\r\n'],
    ['half a response', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ])(
    'a server that closes the connection after %s fails as unreachable after the request was sent',
    async (_, words) => {
      const server = createServer((socket: Socket) => socket.once('data', () => socket.end(words)))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const ctx = allowing('127.0.0.1')
      const { port } = server.address() as { port: number }
      const error = await failure(createEgressClient(ctx).request({ ...request, url: `http://127.0.0.1:${port}/` }))
      expect(error).toMatchObject({ kind: 'unreachable', sent: true })
    },
  )
})
