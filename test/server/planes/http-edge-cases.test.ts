import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { FOUNDER_KEY, sharedApp, type TestApp } from '../../app.ts'
import { errorProblem } from './route-table.ts'

/** Headers that two parsers could understand in two ways. The request line is always `GET /v1/tasks`. */
const SMUGGLED: Record<string, string[]> = {
  'two hosts': ['Host: a', 'Host: b', `Authorization: Bearer ${FOUNDER_KEY}`],
  'two authorizations': ['Host: a', `Authorization: Bearer ${FOUNDER_KEY}`, 'Authorization: Bearer other'],
  'two equal authorizations': [
    'Host: a',
    `Authorization: Bearer ${FOUNDER_KEY}`,
    `authorization: Bearer ${FOUNDER_KEY}`,
  ],
  'a length and chunks': ['Host: a', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
  'two lengths': ['Host: a', 'Content-Length: 1', 'Content-Length: 2'],
  'an invalid length': ['Host: a', 'Content-Length: +1'],
  'an unknown transfer encoding': ['Host: a', 'Transfer-Encoding: xchunked'],
  'a folded header': ['Host: a', 'X-A: 1', ' 2'],
  'a space before the colon': ['Host : a'],
  'a nul in a header': ['Host: a', 'X-A: \0'],
  'a header of 20 kB': ['Host: a', `X-A: ${'x'.repeat(20_000)}`],
}

const app = sharedApp({ store: 'sqlite' })

test.each(Object.entries(SMUGGLED))('a request with %s is refused with a JSON error', async (_, headers) => {
  const { status, body } = await sendRaw(app(), `GET /v1/tasks HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  expect([400, 431]).toContain(status)
  expect(errorProblem(body), body).toBe(null)
})

test('an invalid request line is refused with a JSON error', async () => {
  for (const line of ['x', 'GET /v1/tasks HTTP/9.9', '\x16\x03\x01']) {
    const { status, body } = await sendRaw(app(), `${line}\r\nHost: a\r\n\r\n`)
    expect([status, errorProblem(body)], `${line}: ${body}`).toEqual([400, null])
  }
})

test('an absolute URL reaches the same route, and a path is not normalised', async () => {
  const send = (target: string) =>
    sendRaw(
      app(),
      `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${FOUNDER_KEY}\r\nConnection: close\r\n\r\n`,
    )
  expect((await send('/v1/tasks')).status).toBe(200)
  expect([200, 400, 404]).toContain((await send('http://other.example/v1/tasks')).status)
  expect([400, 404]).toContain((await send('//other.example/v1/tasks')).status)
  for (const target of ['/v1/tasks/../keys', '/v1/./tasks', '/v1/%2e%2e/v1/tasks', '/v1%2ftasks', '/v1/tasks;x=1']) {
    expect([400, 404], target).toContain((await send(target)).status)
  }
})

test('a chunked body of more than 1 MiB is 413', async () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const head = `POST /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${FOUNDER_KEY}\r\nContent-Type: application/json\r\n`
  const { status, body } = await sendRaw(app(), `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`)
  expect([status, body]).toEqual([413, '{"error":"body is larger than 1 MiB"}'])
})

test('an unknown Expect header is ignored', async () => {
  const send = (key: string) =>
    sendRaw(app(), `GET /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nExpect: unknown\r\n\r\n`)
  expect((await send(FOUNDER_KEY)).status).toBe(200)
  const refused = await send('unknown')
  expect([refused.status, errorProblem(refused.body)]).toEqual([401, null])
})

test('a request without a credential is 401 before its body is read', async () => {
  const head = 'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n'
  expect((await sendRaw(app(), head)).status).toBe(401)
})

/** Writes bytes to the port and reads the first response. */
function sendRaw(target: TestApp, bytes: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(target.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let text = ''
    socket.on('error', (error) => (text === '' ? reject(error) : socket.destroy()))
    socket.on('data', (chunk) => {
      text += chunk.toString()
      const response = parseResponse(text)
      if (!response) return
      socket.destroy()
      resolve(response)
    })
    socket.on('close', () => resolve({ status: 0, body: text }))
  })
}

/** Null until the response is complete. */
function parseResponse(text: string): { status: number; body: string } | null {
  const [head = '', body] = text.split(/\r\n\r\n([^]*)/)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (body === undefined || Buffer.byteLength(body) < length) return null
  return { status: Number(head.split(' ')[1]), body: body.slice(0, length) }
}
