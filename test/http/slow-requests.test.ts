import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createPublicServer } from '../../src/planes/public-server.ts'
import { FOUNDER_KEY, type TestApp, testApp } from '../app.ts'
import { advanceUntilSettled } from '../approvals/gated-app.ts'
import { openStream } from '../events/stream-reader.ts'

test('a body that is not received in time is 408, and open streams have no time limit', async () => {
  const app = await testApp({ store: 'sqlite' })
  const server = createPublicServer(app.ctx, new Promise(() => {}), () => false)
  onTestFinished(() => server.close())
  expect(server.server.requestTimeout).toBe(60_000)
  // Shorter, so that the test does not take a minute.
  server.server.requestTimeout = 500
  server.server.headersTimeout = 400
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const stream = await openStream(`http://127.0.0.1:${port}/v1/stream`, { authorization: `Bearer ${FOUNDER_KEY}` })
  const socket = connect(port, '127.0.0.1')
  const lines = ['POST /v1/auth/login HTTP/1.1', 'host: a', 'content-type: application/json', 'content-length: 100']
  socket.write([...lines, '', '{'].join('\r\n'))
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text.split('\r\n\r\n')[1]).toBe('{"error":"the request was not received in time"}')
  // The stream was opened before the slow request and still works.
  const { id } = await app.createTask({ input: 'x' })
  expect(await stream.until(({ tail }) => tail.includes(id))).toContain(id)
  stream.close()
})

test.each([
  ['POST /v1/auth/login', 408],
  ['POST /v1/auth/signup', 408],
  ['POST /v1/auth/accept', 408],
  ['POST /v1/auth/logout', 408],
  ['POST /v1/portal/session', 408],
  ['GET /health', 200],
  ['POST /v1/tasks', 401],
  ['POST /v1/portal/threads/thr_1/messages', 401],
  ['POST /v1/internal/gate', 401],
  ['POST /v1/nothing', 404],
])('%s without a credential is closed when its body does not arrive in 10 s', async (route, status) => {
  const app = await testApp({ store: 'sqlite' })
  const request = startRequest(await listenWithoutTimeout(app), route, [])
  await advanceUntilSettled(app, once(request.socket, 'close'))
  expect(request.status()).toBe(status)
})

test('a request with a valid credential has more than 10 s for its body', async () => {
  const app = await testApp({ store: 'sqlite' })
  const request = startRequest(await listenWithoutTimeout(app), 'POST /v1/tasks', [
    `authorization: Bearer ${FOUNDER_KEY}`,
    'connection: close',
    'expect: 100-continue',
  ])
  // The service sends it after the headers have arrived.
  await once(request.socket, 'data')
  await app.clock.advance(30_000)
  request.socket.write('"wedge":"echo","task_type":"say"}'.padEnd(99))
  await once(request.socket, 'close')
  expect(request.status()).toBe(201)
})

/** The port of a second server of the app, which has no time limit for whole requests. */
async function listenWithoutTimeout(app: TestApp): Promise<number> {
  const server = createPublicServer(app.ctx, new Promise(() => {}), () => false)
  onTestFinished(() => server.close())
  server.server.requestTimeout = 0
  await server.listen({ port: 0, host: '127.0.0.1' })
  return (server.server.address() as AddressInfo).port
}

/** Sends the headers and the first of 100 bytes of a body. */
function startRequest(port: number, route: string, headers: string[]): { socket: Socket; status(): number } {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const lines = [`${route} HTTP/1.1`, 'host: a', 'content-type: application/json', 'content-length: 100', ...headers]
  socket.write([...lines, '', '{'].join('\r\n'))
  return { socket, status: () => Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(text)?.[1]) }
}
