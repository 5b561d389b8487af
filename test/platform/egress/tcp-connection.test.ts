import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { openTcpConnection } from '../../../src/platform/egress/tcp-connection.ts'
import { worldWithTestClock } from '../../connections/test-context.ts'

async function openServer() {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, connections: () => connections }
}

const contextWith = (allow: string) => worldWithTestClock(loadConfig({ SVC_EGRESS_ALLOW: allow }))

/** A DNS server that gives these addresses. */
const lookupOf = (...addresses: string[]) =>
  Object.assign(
    (_host: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    { __promisify__: async () => ({ address: '', family: 4 }) },
  ) as never

describe('a TCP connection', () => {
  test.each(['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '10.0.0.1'])(
    'to the private address %s is refused',
    async (host) => {
      const { port, connections } = await openServer()
      const target = { host, port, timeoutMs: 1000 }
      await expect(async () => openTcpConnection(contextWith(''), target)).rejects.toThrow('destination is not allowed')
      expect(connections()).toBe(0)
    },
  )

  test.each([
    ['resolves to a private address', ['127.0.0.1']],
    ['resolves to a public and a private address', ['93.184.216.34', '127.0.0.1']],
  ])('to a name that %s is refused', async (_, addresses) => {
    const { port, connections } = await openServer()
    const target = { host: 'mail.example.com', port, timeoutMs: 1000 }
    const opening = openTcpConnection(contextWith(''), target, { lookup: lookupOf(...addresses) })
    await expect(opening).rejects.toThrow('destination is not allowed')
    expect(connections()).toBe(0)
  })

  test('is resolved once: the checked address is the one that is used', async () => {
    const { port } = await openServer()
    let lookups = 0
    const once = lookupOf('127.0.0.1') as (...args: unknown[]) => void
    const counting = ((...args: unknown[]) => {
      lookups++
      once(...args)
    }) as never
    const target = { host: 'mail.example.com', port, timeoutMs: 1000 }
    const tcp = await openTcpConnection(contextWith('127.0.0.1'), target, { lookup: counting })
    expect(lookups).toBe(1)
    expect(tcp.socket.remoteAddress).toBe('127.0.0.1')
    expect(tcp.isPrivate).toBe(true)
    tcp.close()
  })

  test('is closed when its time is over', async () => {
    const { port } = await openServer()
    const ctx = contextWith('127.0.0.1')
    const tcp = await openTcpConnection(ctx, { host: '127.0.0.1', port, timeoutMs: 5000 })
    const closed = new Promise((resolve) => tcp.socket.once('close', resolve))
    expect(tcp.isTimedOut()).toBe(false)
    await ctx.clock.advance(5000)
    await closed
    expect(tcp.isTimedOut()).toBe(true)
  })

  test('to a port that nothing listens on is reported without the address', async () => {
    const { port } = await openServer()
    const opening = openTcpConnection(contextWith('127.0.0.1'), { host: '127.0.0.1', port: port - 1, timeoutMs: 1000 })
    await expect(opening).rejects.toThrow(/^the server cannot be reached \(ECONNREFUSED\)$/)
  })
})
