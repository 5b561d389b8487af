import { expect, test } from 'vitest'
import { countLoginAttempt } from '../../../src/identity/accounts/login-limit.ts'
import { ECHO_WEDGE, FOUNDER_KEY, sharedApp, testApp } from '../../app.ts'
import { runScript, scriptedAgentFolder } from '../../execution/runs/scripted-agent.ts'
import { sendRaw } from './send-raw.ts'

/** By default Node drops all headers after the first 1,000; a request line and 16 KiB hold about 2,700 of these. */
const FILLERS = Array.from({ length: 1010 }, () => 'a:')
const HOST = 'host: service'
const AUTHORIZATION = `authorization: Bearer ${FOUNDER_KEY}`
const REFUSED = {
  status: 431,
  body: { error: expect.stringMatching(/^request has \d+ headers, at most 100 are allowed$/) },
}

const app = sharedApp({
  store: 'sqlite',
  wedges: ECHO_WEDGE,
  env: { SVC_SANDBOX: 'bwrap', ...scriptedAgentFolder() },
})

const post = (path: string, headers: string[], body: unknown, url = app().url) => {
  const text = JSON.stringify(body)
  const lines = [`POST ${path} HTTP/1.1`, 'content-type: application/json', `content-length: ${text.length}`]
  return sendRaw(url, [...lines, ...headers], text)
}

test('100 headers are accepted, and one more is 431', async () => {
  // `sendRaw` adds one header.
  const headers = [HOST, AUTHORIZATION, ...FILLERS.slice(0, 97)]
  expect(await sendRaw(app().url, ['GET /v1/tasks HTTP/1.1', ...headers])).toMatchObject({ status: 200 })
  for (const path of ['/v1/tasks', '/health', '/v1/nothing'])
    expect(await sendRaw(app().url, [`GET ${path} HTTP/1.1`, ...headers, 'a:'])).toMatchObject(REFUSED)
})

test('a first sign-up with so many headers that those of the proxy would be dropped is 431', async () => {
  const person = { email: 'first@example.com', password: 'correct horse battery' }
  const forwarded = ['x-forwarded-for: 203.0.113.9', 'x-forwarded-proto: https', 'via: 1.1 proxy']
  const headers = ['host: localhost', ...FILLERS, ...forwarded]
  expect(await post('/v1/auth/signup', headers, person)).toMatchObject(REFUSED)
})

test('a sign-in with so many headers that the forwarded address would be dropped is 431', async () => {
  const behindProxy = await testApp({ store: 'sqlite', env: { SVC_TRUSTED_PROXIES: '127.0.0.1' } })
  const address = '203.0.113.9'
  for (let n = 0; n < 50; n++) await countLoginAttempt(behindProxy.ctx, { email: `other${n}@example.com`, address })
  const guess = { email: 'owner@example.com', password: 'a wrong guess' }
  const signIn = (fillers: string[]) =>
    post('/v1/auth/login', [HOST, ...fillers, `x-forwarded-for: ${address}`], guess, behindProxy.url)
  expect(await signIn([])).toMatchObject({ status: 429 })
  expect(await signIn(FILLERS)).toMatchObject(REFUSED)
})

test.each([
  ['authorization', [HOST, AUTHORIZATION, ...FILLERS, 'authorization: Bearer other']],
  ['host', [HOST, AUTHORIZATION, ...FILLERS, 'host: elsewhere']],
])('a repeated header %s after 1,000 others is 431', async (_, headers) => {
  expect(await sendRaw(app().url, ['GET /v1/tasks HTTP/1.1', ...headers])).toMatchObject(REFUSED)
})

test('an MCP request of a foreign web page with the origin after 1,000 other headers is 431', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const headers = [HOST, AUTHORIZATION, 'accept: application/json, text/event-stream']
  const origin = 'origin: https://elsewhere.example'
  expect(await post('/mcp', [...headers, origin], message)).toMatchObject({ status: 403 })
  expect(await post('/mcp', [...headers, ...FILLERS, origin], message)).toMatchObject(REFUSED)
})

test('an agent cannot repeat the authorization header after 1,000 others', async () => {
  const { task } = await runScript(
    app(),
    `const { socket, task_token } = brief.service
     const own = 'authorization: Bearer ' + task_token
     const lines = ['GET /v1/internal/records/notes HTTP/1.1', 'host: a', 'connection: close', own]
     const connection = require('node:net').connect(socket)
     let text = ''
     connection.setEncoding('utf8').on('data', (chunk) => (text += chunk))
     connection.write([...lines, ...Array(1010).fill('a:'), own, '', ''].join('\\r\\n'))
     connection.on('close', () => say({ output: Number(text.split(' ')[1]) }))`,
  )
  expect(task.output).toBe(431)
})
