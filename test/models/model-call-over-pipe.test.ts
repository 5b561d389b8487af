import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import type { PipeRequest, PipeResponsePart, ModelProvider } from '../../src/contract/agent-protocol.ts'
import { callModel } from '../../src/harness/call-model.ts'
import { type ModelProxy, helloRequest, openModelProxy, planeClientOf, wedgeWithRehearsals } from './model-proxy.ts'
import { smallChunks, type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from './fake-provider.ts'

let desk: ModelProxy
let provider: FakeProvider

const KEYS = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4o' }
const PATHS = { anthropic: '/anthropic/v1/messages', openai: '/openai/v1/chat/completions' }

async function start(wire: ModelProvider, reply: ProviderReply): Promise<void> {
  provider = await fakeProvider(reply)
  const addresses = { ANTHROPIC_BASE_URL: provider.url, OPENAI_BASE_URL: `${provider.url}/v1` }
  desk = await openModelProxy({ ...KEYS, ...addresses, SVC_MODEL: `${wire}/${MODELS[wire]}` })
}

/** Everything that is told in answer to one question. */
async function told(question: Partial<PipeRequest>): Promise<PipeResponsePart[]> {
  const words: PipeResponsePart[] = []
  const whole = { token: 'svc_tsk_1', method: 'POST', path: '/v1/internal/llm/openai/v1/chat/completions', ...question }
  await desk.callByPipe(null, whole, { send: (word) => words.push(word) > 0, whenDrained: () => {} })
  await new Promise(setImmediate)
  return words
}

const piecesOf = (words: PipeResponsePart[]) => words.map((word) => ('piece' in word ? word.piece : '')).join('')

describe.each(['anthropic', 'openai'] as const)('a model call by lines on the %s wire', (wire) => {
  const path = `/v1/internal/llm${PATHS[wire]}`

  test('comes back unchanged, however the pieces fall, and ends with its status', async () => {
    const text = providerStreams[wire]({ text: 'Grüße aus Köln 🙂', call: { name: 'finish', input: { output: 'né' } } })
    await start(wire, { chunks: smallChunks(text, 1) })
    const words = await told({ path, body: helloRequest })
    expect(piecesOf(words)).toBe(text)
    expect(words.at(-1)).toEqual({ status: 200, body: null })
    expect(await desk.charges()).toHaveLength(1)
  })

  test('is understood by the harness', async () => {
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
    const answer = await callModel(planeClientOf(desk), wire, { ...conversation, turns }, (piece) => heard.push(piece))
    expect([answer.text, heard.join('')]).toEqual(['Grüße aus Köln 🙂', 'Grüße aus Köln 🙂'])
  })

  test('that is cut off at the provider is cut off for the agent', async () => {
    const text = providerStreams[wire]({ text: 'x'.repeat(400) })
    await start(wire, { chunks: [text.slice(0, Math.floor(text.length * 0.7))], ending: 'cut' })
    expect((await told({ path, body: helloRequest })).at(-1)).toEqual({ cut: true })
  })

  test('may come in one piece', async () => {
    const body = { choices: [], content: [], usage: {} }
    await start(wire, { json: body })
    expect(await told({ path, body: { ...helloRequest, stream: false } })).toEqual([{ status: 200, body }])
  })

  test('does not read ahead for an agent that does not read', async () => {
    const frame = `: ${'x'.repeat(1 << 16)}\n\n`
    await start(wire, { chunks: Array.from({ length: 1024 }, () => frame) })
    const question = { token: 'svc_tsk_1', method: 'POST', path, body: helloRequest }
    const deaf = { send: () => false, whenDrained: () => {} }
    const over = desk.callByPipe(null, question, deaf)
    let before = 0
    const written = () => provider.written()
    while (before === 0 || written() !== before) {
      before = written()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(written()).toBeLessThan(512)
    desk.abort()
    await provider.seen[0]?.closed
    await over
  })
})

test('a rehearsed answer is one line', async () => {
  desk = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await told({ body: helloRequest })).toEqual([
    { piece: expect.stringContaining('Hi.'), status: 200, body: null },
  ])
})

/** So many objects, each in the one before. */
const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) })

test.each<[string, Partial<PipeRequest>, number, string]>([
  ['without its token', { token: 'svc_gat_1' }, 401, 'a valid credential is required'],
  ['for a route that is not there', { path: '/v1/tasks' }, 404, 'no such route: POST /v1/tasks'],
  [
    'by a method that is not there',
    { method: 'GET' },
    404,
    'no such route: GET /v1/internal/llm/openai/v1/chat/completions',
  ],
  ['for a path that cannot be read', { path: '/v1/internal/llm/%E0%A4%A/x' }, 400, 'path is not valid'],
  ['for a path with a nul', { path: '/v1/internal/llm/a%00/x' }, 400, 'url must not contain nul characters'],
  ['for a path without end', { path: `/v1/internal/llm/${'a'.repeat(600)}/x` }, 414, 'path is too long'],
  ['with a nul', { body: { a: '\0' } }, 400, 'json must not contain nul characters'],
  ['with half a character', { body: { a: ['\ud800'] } }, 400, 'json must not contain lone surrogates'],
  [
    'with a number beyond all',
    { body: { a: Number.POSITIVE_INFINITY } },
    400,
    'json must not contain numbers beyond 1.8e308',
  ],
  ['that nests too deep', { body: nested(65) }, 400, 'json must not nest deeper than 64 levels'],
])('a question %s is refused in the words of HTTP', async (_what, question, status, error) => {
  desk = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await told({ body: helloRequest, ...question })).toEqual([{ status, body: { error } }])
  const { body } = { body: helloRequest, ...question }
  const text = JSON.stringify(body).replace(':null', ':1e999')
  const method = question.method ?? 'POST'
  const answer = await fetch(`http://127.0.0.1:${desk.port}${question.path ?? PATHS_OVER_HTTP}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer svc_tsk_1' },
    ...(method === 'POST' && { body: text }),
  })
  if (question.token === undefined) expect([answer.status, await answer.json()]).toEqual([status, { error }])
})

const PATHS_OVER_HTTP = '/v1/internal/llm/openai/v1/chat/completions'

test('64 levels are not too deep', async () => {
  desk = await openModelProxy({}, { wedge: wedgeWithRehearsals({ triage: [{ say: 'Hi.' }] }) })
  expect(await told({ body: { ...helloRequest, more: nested(63) } })).toMatchObject([{ status: 200 }])
})

test('what nobody foresaw is an internal error, told to the log only', async () => {
  desk = await openModelProxy({}, { wedge: { ...wedgeWithRehearsals({}), rehearsals: null as never } })
  expect(await told({ body: helloRequest })).toEqual([{ status: 500, body: { error: 'internal error' } }])
  expect(desk.logged()).toContain('request failed')
})
