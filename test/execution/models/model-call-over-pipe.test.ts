import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import type { PipeRequest, PipeResponsePart, ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import { callModel } from '../../../src/programs/harness/call-model.ts'
import { type ModelProxy, helloRequest, openModelProxy, planeClientOf, wedgeWithRehearsals } from './model-proxy.ts'
import { smallChunks, type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from './fake-provider.ts'

let proxy: ModelProxy
let provider: FakeProvider

const KEYS = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4o' }
const PATHS = { anthropic: '/anthropic/v1/messages', openai: '/openai/v1/chat/completions' }

async function start(wire: ModelProvider, reply: ProviderReply): Promise<void> {
  provider = await fakeProvider(reply)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  proxy = await openModelProxy({ ...KEYS, ...addresses, SVC_MODEL: `${wire}/${MODELS[wire]}` })
}

/** All parts of the response to one request. */
async function send(request: Partial<PipeRequest>): Promise<PipeResponsePart[]> {
  const parts: PipeResponsePart[] = []
  const whole = { token: 'svc_tsk_1', method: 'POST', path: '/v1/internal/llm/openai/v1/chat/completions', ...request }
  await proxy.callByPipe(null, whole, { send: (part) => parts.push(part) > 0, whenDrained: () => {} })
  await new Promise(setImmediate)
  return parts
}

const piecesOf = (parts: PipeResponsePart[]) => parts.map((part) => ('piece' in part ? part.piece : '')).join('')

describe.each(['anthropic', 'openai'] as const)('model call over the pipe, %s format', (wire) => {
  const path = `/v1/internal/llm${PATHS[wire]}`

  test('the stream is forwarded unchanged, however it is split, and ends with its status', async () => {
    const text = providerStreams[wire]({ text: 'Grüße aus Köln 🙂', call: { name: 'finish', input: { output: 'né' } } })
    await start(wire, { chunks: smallChunks(text, 1) })
    const parts = await send({ path, body: helloRequest })
    expect(piecesOf(parts)).toBe(text)
    expect(parts.at(-1)).toEqual({ status: 200, body: null })
    expect(await proxy.charges()).toHaveLength(1)
  })

  test('the harness understands the response', async () => {
    await start(wire, { chunks: smallChunks(providerStreams[wire]({ text: 'Grüße aus Köln 🙂' })) })
    const conversation = {
      model: 'm',
      system: '',
      tools: [],
      requiredTool: null,
      strictOutput: null,
      temperature: null,
    }
    const heard: string[] = []
    const turns = [{ by: 'user' as const, text: 'Do it.' }]
    const answer = await callModel(planeClientOf(proxy), wire, { ...conversation, turns }, (piece) => heard.push(piece))
    expect([answer.text, heard.join('')]).toEqual(['Grüße aus Köln 🙂', 'Grüße aus Köln 🙂'])
  })

  test('a stream that breaks at the provider is cut off for the agent', async () => {
    const text = providerStreams[wire]({ text: 'x'.repeat(400) })
    await start(wire, { chunks: [text.slice(0, Math.floor(text.length * 0.7))], ending: 'cut' })
    expect((await send({ path, body: helloRequest })).at(-1)).toEqual({ cut: true })
  })

  test('a response that is not streamed is sent whole', async () => {
    const body = { choices: [], content: [], usage: {} }
    await start(wire, { json: body })
    expect(await send({ path, body: { ...helloRequest, stream: false } })).toEqual([{ status: 200, body }])
  })

  test('the proxy does not read ahead of an agent that does not read', async () => {
    const frame = `: ${'x'.repeat(1 << 16)}\n\n`
    await start(wire, { chunks: Array.from({ length: 1024 }, () => frame) })
    const request = { token: 'svc_tsk_1', method: 'POST', path, body: helloRequest }
    const deaf = { send: () => false, whenDrained: () => {} }
    const over = proxy.callByPipe(null, request, deaf)
    let before = 0
    const written = () => provider.written()
    while (before === 0 || written() !== before) {
      before = written()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(written()).toBeLessThan(512)
    proxy.abort()
    await provider.seen[0]?.closed
    await over
  })
})

test('a rehearsed reply is sent in one line', async () => {
  proxy = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await send({ body: helloRequest })).toEqual([
    { piece: expect.stringContaining('Hi.'), status: 200, body: null },
  ])
})

/** This number of nested objects. */
const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) })

test.each<[string, Partial<PipeRequest>, number, string]>([
  ['without its token', { token: 'svc_gat_1' }, 401, 'a valid credential is required'],
  ['for an unknown route', { path: '/v1/tasks' }, 404, 'no such route: POST /v1/tasks'],
  ['with an unknown method', { method: 'GET' }, 404, 'no such route: GET /v1/internal/llm/openai/v1/chat/completions'],
  ['for a path that cannot be decoded', { path: '/v1/internal/llm/%E0%A4%A/x' }, 400, 'path is not valid'],
  ['for a path with a nul', { path: '/v1/internal/llm/a%00/x' }, 400, 'url must not contain nul characters'],
  ['for a very long path', { path: `/v1/internal/llm/${'a'.repeat(600)}/x` }, 414, 'path is too long'],
  ['with a nul', { body: { a: '\0' } }, 400, 'json must not contain nul characters'],
  ['with a lone surrogate', { body: { a: ['\ud800'] } }, 400, 'json must not contain lone surrogates'],
  [
    'with a number beyond 1.8e308',
    { body: { a: Number.POSITIVE_INFINITY } },
    400,
    'json must not contain numbers beyond 1.8e308',
  ],
  ['with 65 levels', { body: nested(65) }, 400, 'json must not nest deeper than 64 levels'],
])('a request over the pipe %s is refused as over HTTP', async (_what, request, status, error) => {
  proxy = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await send({ body: helloRequest, ...request })).toEqual([{ status, body: { error } }])
  const { body } = { body: helloRequest, ...request }
  const text = JSON.stringify(body).replace(':null', ':1e999')
  const method = request.method ?? 'POST'
  const answer = await fetch(`http://127.0.0.1:${proxy.port}${request.path ?? PATHS_OVER_HTTP}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer svc_tsk_1' },
    ...(method === 'POST' && { body: text }),
  })
  if (request.token === undefined) expect([answer.status, await answer.json()]).toEqual([status, { error }])
})

const PATHS_OVER_HTTP = '/v1/internal/llm/openai/v1/chat/completions'

test('a request over the pipe with 64 levels is accepted', async () => {
  proxy = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await send({ body: { ...helloRequest, metadata: nested(63) } })).toMatchObject([{ status: 200 }])
})

test('an unexpected error is an internal error whose details are only logged', async () => {
  proxy = await openModelProxy({}, { wedge: { ...wedgeWithRehearsals({}), rehearsals: null as never } })
  expect(await send({ body: helloRequest })).toEqual([{ status: 500, body: { error: 'internal error' } }])
  expect(proxy.logged()).toContain('request failed')
})
