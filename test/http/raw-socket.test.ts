import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY, sharedApp } from '../app.ts'

const HOST = 'host: service'
const AUTHORIZATION = `authorization: Bearer ${FOUNDER_KEY}`

/** What the service answers to bytes that no HTTP client would send. */
async function raw(url: string, lines: string[], body = ''): Promise<{ status: number; head: string; body: unknown }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  socket.write([...lines, 'connection: close', '', body].join('\r\n'))
  await once(socket, 'close')
  const [head = '', rest = ''] = text.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: rest === '' ? null : JSON.parse(rest) }
}

describe('over a bare socket', () => {
  const shared = sharedApp({ store: 'sqlite' })
  const sentence = { error: expect.stringMatching(/^[a-z]/) }

  test('one authorization and one host header are taken', async () => {
    const answer = await raw(shared().url, ['GET /v1/tasks HTTP/1.1', HOST, AUTHORIZATION])
    expect(answer).toMatchObject({ status: 200, body: { data: [] } })
  })

  test.each([
    ['authorization', [HOST, AUTHORIZATION, AUTHORIZATION]],
    ['authorization, of another spelling', [HOST, AUTHORIZATION, 'AUTHORIZATION: Bearer svc_key_other']],
    ['authorization, the first one empty', [HOST, 'authorization:', AUTHORIZATION]],
    ['host', [HOST, 'Host: elsewhere', AUTHORIZATION]],
  ])('a repeated header is 400: %s', async (name, headers) => {
    for (const path of ['/v1/tasks', '/health', '/v1/nothing']) {
      const answer = await raw(shared().url, [`GET ${path} HTTP/1.1`, ...headers])
      expect(answer).toMatchObject({ status: 400, body: sentence })
      expect(answer.body).toMatchObject({ error: expect.stringContaining(name.split(',')[0] ?? '') })
      expect(answer.head).toContain('x-request-id: ')
    }
  })

  test.each([
    ['a line that is no request', ['HELLO'], 400],
    ['a length that is no number', ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: x'], 400],
    [
      'two ways to say where the body ends',
      ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: 2', 'transfer-encoding: chunked'],
      400,
    ],
    ['headers beyond 16 KiB', ['GET /health HTTP/1.1', HOST, `x-long: ${'x'.repeat(20_000)}`], 431],
  ])('%s is refused in the one shape of errors', async (_, lines, status) => {
    const answer = await raw(shared().url, lines)
    expect(answer).toMatchObject({ status, body: sentence })
  })

  test('a body without a content type is 415', async () => {
    const lines = ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: 2']
    expect(await raw(shared().url, lines, '{}')).toMatchObject({ status: 415, body: sentence })
  })

  test('a chunked body over 1 MiB is 413', async () => {
    const lines = ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-type: application/json']
    const size = 1024 * 1024 + 1
    const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n0\r\n\r\n`
    const answer = await raw(shared().url, [...lines, 'transfer-encoding: chunked'], chunk)
    expect(answer).toMatchObject({ status: 413, body: sentence })
  })
})
