import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { FOUNDER_KEY, sharedApp, type TestApp } from '../app.ts'
import { errorProblem } from './route-table.ts'

/** What two readers of a request could read differently; the first line is always `GET /v1/tasks`. */
const SMUGGLED: Record<string, string[]> = {
  'two hosts': ['Host: a', 'Host: b', `Authorization: Bearer ${FOUNDER_KEY}`],
  'two authorizations': ['Host: a', `Authorization: Bearer ${FOUNDER_KEY}`, 'Authorization: Bearer other'],
  'two authorizations that agree': [
    'Host: a',
    `Authorization: Bearer ${FOUNDER_KEY}`,
    `authorization: Bearer ${FOUNDER_KEY}`,
  ],
  'a length and chunks': ['Host: a', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
  'two lengths': ['Host: a', 'Content-Length: 1', 'Content-Length: 2'],
  'a length of nonsense': ['Host: a', 'Content-Length: +1'],
  'an unknown transfer encoding': ['Host: a', 'Transfer-Encoding: xchunked'],
  'a folded header': ['Host: a', 'X-A: 1', ' 2'],
  'a space before the colon': ['Host : a'],
  'a nul in a header': ['Host: a', 'X-A: \0'],
  'a header of 20 kB': ['Host: a', `X-A: ${'x'.repeat(20_000)}`],
}

const app = sharedApp({ store: 'sqlite' })

test.each(Object.entries(SMUGGLED))('a request with %s is refused in words', async (_, headers) => {
  const { status, body } = await raw(app(), `GET /v1/tasks HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  expect([400, 431]).toContain(status)
  expect(errorProblem(body), body).toBe(null)
})

test('a request line that is none is refused in words', async () => {
  for (const line of ['x', 'GET /v1/tasks HTTP/9.9', '\x16\x03\x01']) {
    const { status, body } = await raw(app(), `${line}\r\nHost: a\r\n\r\n`)
    expect([status, errorProblem(body)], `${line}: ${body}`).toEqual([400, null])
  }
})

test('an absolute address reaches the same route and no other host', async () => {
  const ask = (target: string) =>
    raw(app(), `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${FOUNDER_KEY}\r\nConnection: close\r\n\r\n`)
  expect((await ask('/v1/tasks')).status).toBe(200)
  expect([200, 400, 404]).toContain((await ask('http://other.example/v1/tasks')).status)
  expect([400, 404]).toContain((await ask('//other.example/v1/tasks')).status)
  for (const target of ['/v1/tasks/../keys', '/v1/./tasks', '/v1/%2e%2e/v1/tasks', '/v1%2ftasks', '/v1/tasks;x=1']) {
    expect([400, 404], target).toContain((await ask(target)).status)
  }
})

test('a body without a length is cut off at the same megabyte', async () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const head = `POST /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${FOUNDER_KEY}\r\nContent-Type: application/json\r\n`
  const { status, body } = await raw(app(), `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`)
  expect([status, body]).toEqual([413, '{"error":"body is larger than 1 MiB"}'])
})

test('what a request expects beyond going on is passed over', async () => {
  const ask = (key: string) =>
    raw(app(), `GET /v1/tasks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nExpect: a-miracle\r\n\r\n`)
  expect((await ask(FOUNDER_KEY)).status).toBe(200)
  const stranger = await ask('nobody')
  expect([stranger.status, errorProblem(stranger.body)]).toEqual([401, null])
})

test('a stranger’s body is not even read', async () => {
  const head = 'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n'
  expect((await raw(app(), head)).status).toBe(401)
})

/** Writes bytes to the port and reads the first answer. */
function raw(target: TestApp, bytes: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(target.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    let text = ''
    socket.on('error', (error) => (text === '' ? reject(error) : socket.destroy()))
    socket.on('data', (piece) => {
      text += piece.toString()
      const answer = answerIn(text)
      if (!answer) return
      socket.destroy()
      resolve(answer)
    })
    socket.on('close', () => resolve({ status: 0, body: text }))
  })
}

/** The answer, once all of it is there. */
function answerIn(text: string): { status: number; body: string } | null {
  const [head = '', body] = text.split(/\r\n\r\n([^]*)/)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (body === undefined || Buffer.byteLength(body) < length) return null
  return { status: Number(head.split(' ')[1]), body: body.slice(0, length) }
}
