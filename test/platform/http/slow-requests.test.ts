import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { FOUNDER_KEY, testApp } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { openStream } from '../../work/events/stream-reader.ts'

test('a body that is not received in a minute is 408, and open streams have no time limit', async () => {
  const app = await testApp({ store: 'sqlite' })
  const { port } = new URL(app.url)
  const stream = await openStream(`${app.url}/v1/stream`, { authorization: `Bearer ${FOUNDER_KEY}` })
  const request = startRequest(Number(port), 'POST /v1/tasks', [`authorization: Bearer ${FOUNDER_KEY}`])
  const closed = once(request.socket, 'close')
  await advanceUntilSettled(app, closed)
  expect(request.status()).toBe(408)
  expect(request.text().split('\r\n\r\n')[1]).toBe('{"error":"the request was not received in time"}')
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
  const request = startRequest(Number(new URL(app.url).port), route, [])
  await advanceUntilSettled(app, once(request.socket, 'close'))
  expect(request.status()).toBe(status)
})

test('a request with a valid credential has more than 10 s for its body', async () => {
  const app = await testApp({ store: 'sqlite' })
  const request = startRequest(Number(new URL(app.url).port), 'POST /v1/tasks', [
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

interface StartedRequest {
  socket: Socket
  /** What the service has sent. */
  text(): string
  status(): number
}

/** Sends the headers and the first of 100 bytes of a body. */
function startRequest(port: number, route: string, headers: string[]): StartedRequest {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const lines = [`${route} HTTP/1.1`, 'host: a', 'content-type: application/json', 'content-length: 100', ...headers]
  socket.write([...lines, '', '{'].join('\r\n'))
  return { socket, text: () => text, status: () => Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(text)?.[1]) }
}
