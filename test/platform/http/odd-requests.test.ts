import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { FOUNDER_KEY, sharedApp } from '../../app.ts'

const HOST = 'host: service'
const KEY = `authorization: Bearer ${FOUNDER_KEY}`
const JSON_TYPE = 'content-type: application/json'
const ORIGIN = 'origin: https://pages.example'

const app = sharedApp({ store: 'sqlite', env: { SVC_CORS_ORIGINS: 'https://pages.example' } })

/** Sends the bytes over one connection and returns its responses when the service closes it. */
async function exchange(bytes: string): Promise<{ line: string; headers: Record<string, string>; body: string }[]> {
  const { hostname, port } = new URL(app().url)
  const socket = connect(Number(port), hostname)
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  const text = Buffer.concat(pieces).toString()
  return text.split(/(?=HTTP\/1\.1 \d{3})/).map((response) => {
    const [head = '', body = ''] = response.split(/\r\n\r\n(.*)/s)
    const [line = '', ...lines] = head.split('\r\n')
    const headers = lines
      .map((one) => one.split(/: (.*)/s))
      .map(([name = '', value = '']) => [name.toLowerCase(), value])
    return { line: line.slice('HTTP/1.1 '.length), headers: Object.fromEntries(headers), body }
  })
}

const request = (line: string, headers: string[] = [], body = '') =>
  [`${line} HTTP/1.1`, HOST, 'connection: close', ...headers, '', body].join('\r\n')

const noRoute = (call: string) => `{"error":"no such route: ${call}"}`
const UNAUTHORIZED = '{"error":"a valid credential is required"}'
const BAD_PATH = '{"error":"path is not valid"}'
const EMPTY_LIST = '{"data":[],"next_cursor":null}'

test.each<[string, string, string[], number, string | null]>([
  ['an absolute URL', 'GET http://elsewhere.example/v1/tasks?limit=1', [KEY], 200, EMPTY_LIST],
  ['an absolute URL without a host', 'GET http:///v1/tasks', [KEY], 400, BAD_PATH],
  ['a URL of another scheme', 'GET ftp://x/v1/tasks', [KEY], 404, noRoute('GET ftp://x/v1/tasks')],
  ['a fragment', 'GET /v1/tasks#x', [KEY], 200, EMPTY_LIST],
  ['an encoded letter', 'GET /v1/t%61sks', [KEY], 200, EMPTY_LIST],
  ['an encoded slash', 'POST /v1%2Ftasks', [], 404, noRoute('POST /v1%2Ftasks')],
  ['a parameter with an encoded slash', 'GET /v1/tasks/a%2Fb', [KEY], 404, '{"error":"no such task"}'],
  ['a slash at the end', 'GET /v1/tasks/', [KEY], 404, '{"error":"no such task"}'],
  ['two slashes', 'POST //v1/tasks', [], 404, noRoute('POST //v1/tasks')],
  ['upper case', 'POST /V1/tasks', [], 404, noRoute('POST /V1/tasks')],
  ['a query after an unknown path', 'PUT /v1/nothing?a=1', [], 404, noRoute('PUT /v1/nothing')],
  ['an invalid escape', 'GET /v1/tasks/%zz', [KEY], 400, BAD_PATH],
  ['bytes that are not UTF-8', 'GET /v1/tasks/%E9', [KEY], 400, BAD_PATH],
  ['an encoded nul', 'GET /v1/tasks/%00', [KEY], 400, '{"error":"url must not contain nul characters"}'],
  ['a long parameter', `POST /v1/tasks/${'x'.repeat(513)}/cancel`, [KEY], 414, '{"error":"path is too long"}'],
  ['an invalid escape in a query', 'GET /v1/tasks?limit=%zz', [KEY], 400, null],
  ['a repeated parameter of a query', 'GET /v1/tasks?limit=1&limit=2', [KEY], 400, null],
  ['an unknown method', 'PROPFIND /v1/tasks', [KEY], 404, noRoute('PROPFIND /v1/tasks')],
  ['HEAD on a page', 'HEAD /livez', [], 200, ''],
  ['HEAD on the API', 'HEAD /v1/stream', [KEY], 404, ''],
  ['the sandbox plane', 'TRACE /v1/internal/gate', [KEY], 401, UNAUTHORIZED],
  ['HEAD on the sandbox plane', 'HEAD /v1/internal/gate', [KEY], 401, ''],
  ['an upgrade', 'GET /v1/tasks', [KEY, 'upgrade: websocket', 'connection: upgrade'], 200, EMPTY_LIST],
  ['an invalid content type', 'POST /v1/keys', [KEY, 'content-type: json', 'content-length: 0'], 415, null],
  ['an empty content type', 'DELETE /v1/keys/x', [KEY, 'content-type:'], 415, null],
  ['an invalid content type of a form', 'POST /v1/mcp-oauth/token', ['content-type: form'], 415, null],
  ['an invalid content type without a credential', 'POST /v1/keys', ['content-type: json'], 401, UNAUTHORIZED],
  ['a declared length over the limit', 'POST /v1/keys', [KEY, JSON_TYPE, 'content-length: 1048577'], 413, null],
])('%s: %s', async (_, line, headers, status, body) => {
  const [response] = await exchange(request(line, headers))
  expect(response?.line).toMatch(new RegExp(`^${status} `))
  expect(response?.headers).toMatchObject({ connection: 'close', 'x-request-id': expect.stringMatching(/^[\w-]{12}$/) })
  if (body !== null) expect(response?.body).toBe(body)
})

test('OPTIONS *, which names no resource, is not a preflight of a page', async () => {
  expect(await exchange(request('OPTIONS *'))).toMatchObject([
    { line: '404 Not Found', body: '{"error":"no such route"}' },
  ])
})

test('only responses of known routes can be read by pages', async () => {
  const allowed = { 'access-control-allow-origin': 'https://pages.example', vary: 'origin' }
  const [found] = await exchange(request('GET /v1/tasks', [KEY, ORIGIN]))
  const [refused] = await exchange(request('GET /v1/tasks', [ORIGIN]))
  const [unknown] = await exchange(request('PUT /v1/nothing', [ORIGIN]))
  const [invalid] = await exchange(request('GET /v1/%zz', [ORIGIN]))
  expect([found?.headers, refused?.headers]).toMatchObject([allowed, allowed])
  expect([unknown?.headers, invalid?.headers].map((headers) => headers?.['access-control-allow-origin'])).toEqual([
    undefined,
    undefined,
  ])
})

test('requests on one connection get their responses in order, also after refusals', async () => {
  const keepAlive = (line: string, headers: string[], body = '') =>
    [`${line} HTTP/1.1`, HOST, ...headers, '', body].join('\r\n')
  const responses = await exchange(
    [
      keepAlive('GET /v1/tasks', [KEY]),
      keepAlive('GET /v1/%zz', []),
      keepAlive('POST /v1/keys', [JSON_TYPE, 'content-length: 2'], '{}'),
      keepAlive('POST /v1/keys', [KEY, 'content-type: bad', 'content-length: 2'], '{}'),
      keepAlive('POST /v1/nothing', ['transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
      request('GET /livez'),
    ].join(''),
  )
  expect(responses.map(({ line }) => line.slice(0, 3))).toEqual(['200', '400', '401', '415', '404', '200'])
})

test('a body over the limit ends the connection, so that its rest is not read as the next request', async () => {
  const size = 1024 * 1024 + 1
  const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`
  const upload = ['POST /v1/keys HTTP/1.1', HOST, KEY, JSON_TYPE, 'transfer-encoding: chunked', '', chunk].join('\r\n')
  const responses = await exchange(upload + request('GET /livez'))
  expect(responses).toMatchObject([{ headers: { connection: 'close' }, body: '{"error":"body is larger than 1 MiB"}' }])
})

test('a client of HTTP/1.0 gets its response and the end of the connection', async () => {
  const [response] = await exchange(`GET /v1/tasks HTTP/1.0\r\n${HOST}\r\n${KEY}\r\n\r\n`)
  expect(response).toMatchObject({ line: '200 OK', headers: { connection: 'close' }, body: EMPTY_LIST })
})
