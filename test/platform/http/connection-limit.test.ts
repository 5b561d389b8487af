import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { FOUNDER_KEY, type TestApp, testApp } from '../../app.ts'
import { openStream } from '../../work/events/stream-reader.ts'

/** Opens a connection that sends nothing. */
async function openConnection(app: TestApp): Promise<Socket> {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** The status of a request on the connection; null if the server has closed it. */
async function healthStatus(socket: Socket): Promise<number | null> {
  socket.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n')
  const chunk = await new Promise<Buffer | null>((resolve) => {
    socket.once('data', resolve).once('error', () => resolve(null))
    socket.once('close', () => resolve(null))
  })
  return chunk && Number(String(chunk).split(' ')[1])
}

const LIMIT = { SVC_MAX_CONNECTIONS_PER_ADDRESS: '3' }

test('an address with too many connections without a credential gets no other, until it closes one', async () => {
  const app = await testApp({ store: 'sqlite', env: LIMIT })
  const [first, ...others] = [await openConnection(app), await openConnection(app), await openConnection(app)]
  for (const socket of others) expect(await healthStatus(socket)).toBe(200)
  expect(await healthStatus(await openConnection(app))).toBeNull()
  expect(app.ctx.counts.refusedConnections).toBe(1)
  first?.destroy()
  await expect.poll(async () => healthStatus(await openConnection(app))).toBe(200)
})

test('connections with a valid credential do not count', async () => {
  const app = await testApp({ store: 'sqlite', env: LIMIT })
  const open = () => openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${FOUNDER_KEY}` })
  const streams = [await open(), await open(), await open(), await open(), await open()]
  expect(await healthStatus(await openConnection(app))).toBe(200)
  expect(app.ctx.counts.refusedConnections).toBe(0)
  for (const stream of streams) stream.close()
})

test.each([
  ['the address is a trusted proxy', { SVC_TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1' }],
  ['the address is in a trusted network', { SVC_TRUSTED_PROXIES: '127.0.0.0/8' }],
  ['the limit is 0', { SVC_MAX_CONNECTIONS_PER_ADDRESS: '0' }],
])('there is no limit if %s', async (_, env) => {
  const app = await testApp({ store: 'sqlite', env: { ...LIMIT, ...env } })
  for (let n = 0; n < 10; n++) expect(await healthStatus(await openConnection(app))).toBe(200)
})
