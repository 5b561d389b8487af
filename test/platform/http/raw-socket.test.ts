import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY, sharedApp } from '../../app.ts'
import { sendRaw } from './send-raw.ts'

const HOST = 'host: service'
const AUTHORIZATION = `authorization: Bearer ${FOUNDER_KEY}`

describe('requests over a sendRaw socket', () => {
  const shared = sharedApp({ store: 'sqlite' })
  const sentence = { error: expect.stringMatching(/^[a-z]/) }

  test('a request with one authorization and one host header is accepted', async () => {
    const response = await sendRaw(shared().url, ['GET /v1/tasks HTTP/1.1', HOST, AUTHORIZATION])
    expect(response).toMatchObject({ status: 200, body: { data: [] } })
  })

  test.each([
    ['authorization', [HOST, AUTHORIZATION, AUTHORIZATION]],
    ['authorization, in another case', [HOST, AUTHORIZATION, 'AUTHORIZATION: Bearer svc_key_other']],
    ['authorization, the first one empty', [HOST, 'authorization:', AUTHORIZATION]],
    ['host', [HOST, 'Host: elsewhere', AUTHORIZATION]],
  ])('a repeated header is 400: %s', async (name, headers) => {
    for (const path of ['/v1/tasks', '/health', '/v1/nothing']) {
      const response = await sendRaw(shared().url, [`GET ${path} HTTP/1.1`, ...headers])
      expect(response).toMatchObject({ status: 400, body: sentence })
      expect(response.body).toMatchObject({ error: expect.stringContaining(name.split(',')[0] ?? '') })
      expect(response.head).toContain('x-request-id: ')
    }
  })

  test.each([
    ['a line that is not a request', ['HELLO'], 400],
    [
      'a content length that is not a number',
      ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: x'],
      400,
    ],
    [
      'both a content length and chunks',
      ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: 2', 'transfer-encoding: chunked'],
      400,
    ],
    ['headers beyond 16 KiB', ['GET /health HTTP/1.1', HOST, `x-long: ${'x'.repeat(20_000)}`], 431],
  ])('a request with %s is refused with a JSON error', async (_, lines, status) => {
    const response = await sendRaw(shared().url, lines)
    expect(response).toMatchObject({ status, body: sentence })
  })

  test('a body without a content type is 415', async () => {
    const lines = ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-length: 2']
    expect(await sendRaw(shared().url, lines, '{}')).toMatchObject({ status: 415, body: sentence })
  })

  test('a chunked body over 1 MiB is 413', async () => {
    const lines = ['POST /v1/tasks HTTP/1.1', HOST, AUTHORIZATION, 'content-type: application/json']
    const size = 1024 * 1024 + 1
    const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n0\r\n\r\n`
    const response = await sendRaw(shared().url, [...lines, 'transfer-encoding: chunked'], chunk)
    expect(response).toMatchObject({ status: 413, body: sentence })
  })
})
