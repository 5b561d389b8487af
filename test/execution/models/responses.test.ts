import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import { type FakeProvider, type ProviderReply, fakeProvider, responsesStream, smallChunks } from './fake-provider.ts'
import { type ModelProxy, openModelProxy, wedgeWithRehearsals } from './model-proxy.ts'

let proxy: ModelProxy
let provider: FakeProvider

async function start(replies: ProviderReply[], run = {}, model = 'openai/gpt-5'): Promise<void> {
  provider = await fakeProvider(...replies)
  const env = { OPENAI_API_KEY: 'canary-key', OPENAI_BASE_URL: `${provider.url}/v1`, SVC_MODEL: model }
  proxy = await openModelProxy(env, run)
}

const hello: JsonObject = { model: 'any', input: 'hello', max_output_tokens: 1000, stream: true }
const post = (body: JsonObject = hello) => proxy.call(body, { path: 'v1/responses' })
const whole: ProviderReply = { chunks: [responsesStream({ text: 'hi' })] }
const userContent = (block: JsonObject): JsonObject[] => [{ role: 'user', content: [block] }]
/** 800 uncached and 200 cached input tokens and 100 output tokens of gpt-5. */
const MICROS = 800 * 1.25 + 200 * 0.125 + 100 * 10

describe('the Responses API', () => {
  test('a stream is forwarded unchanged, charged once, and its end waits for the charge', async () => {
    const text = responsesStream({ text: 'Grüße 🙂', call: { name: 'finish', input: { output: 'né' } } })
    await start([{ chunks: smallChunks(text, 50) }])
    let spentAtEnd = -1
    const onChunk = (chunk: string) => {
      if (spentAtEnd < 0 && /event: response\.completed\n.*\n\n/.test(chunk)) spentAtEnd = proxy.run.spentMicros
      return undefined
    }
    const response = await proxy.call(hello, { path: 'responses', onChunk })
    expect(response).toMatchObject({ status: 200, text, whole: true })
    expect([spentAtEnd, await proxy.costMicros(), proxy.run.reservedMicros]).toEqual([MICROS, MICROS, 0])
    expect(provider.seen[0]?.body).toMatchObject({ model: 'gpt-5', store: false, max_output_tokens: 1000 })
  })

  test('a reasoning model is asked for encrypted reasoning, and other models are not', async () => {
    await start([whole])
    await post({ ...hello, include: ['web_search_call.results'] })
    expect(provider.seen[0]?.body['include']).toEqual(['reasoning.encrypted_content'])
    await start([whole], {}, 'openai/gpt-4o')
    await post()
    expect(provider.seen[0]?.body).not.toHaveProperty('include')
  })

  test('a reference to an earlier item of the run is replaced by the item', async () => {
    await start([whole])
    await post()
    await post({
      ...hello,
      input: [
        { type: 'item_reference', id: 'msg_call_1' },
        { role: 'user', content: 'and?' },
      ],
    })
    expect(provider.seen[1]?.body['input']).toMatchObject([
      { id: 'msg_call_1', type: 'message', content: [{ type: 'output_text', text: 'hi' }] },
      { role: 'user', content: 'and?' },
    ])
  })

  test.each<[string, JsonObject]>([
    ['an image', { type: 'input_image', image_url: 'data:image/png;base64,aGk=' }],
    ['a file', { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' }],
  ])('%s is reserved at its worst case, also in the result of a tool', async (_, block) => {
    await start([whole], { maxCostMicros: 25_000 })
    const result = { type: 'function_call_output', call_id: 'c', output: [block] }
    expect((await post()).status).toBe(200)
    expect((await post({ ...hello, input: [{ role: 'user', content: [block] }] })).status).toBe(402)
    expect((await post({ ...hello, input: [result] })).status).toBe(402)
    expect(provider.seen).toHaveLength(1)
  })

  test.each<[string, JsonObject]>([
    ['a file by URL', { input: userContent({ type: 'input_file', file_url: 'https://x.example/a' }) }],
    [
      'a file by URL beside its content',
      { input: userContent({ type: 'input_file', file_data: 'x', file_url: 'http://169.254.169.254/' }) },
    ],
    [
      'an image by id beside its content',
      { input: userContent({ type: 'input_image', image_url: 'data:,', file_id: 'file-abc' }) },
    ],
    ['an item of another call, without a type', { input: [{ type: null, id: 'msg_other' }] }],
    [
      'instructions that are messages',
      { instructions: userContent({ type: 'input_image', image_url: 'https://x.example/a' }) },
    ],
    ['a call of a tool at the provider', { input: [{ type: 'mcp_call', id: 'mcp_1' }] }],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }],
    ['an MCP server', { tools: [{ type: 'mcp', server_url: 'https://x.example' }] }],
  ])('a request with %s is refused', async (_, more) => {
    await start([whole])
    expect((await post({ ...hello, ...more })).status).toBe(400)
    expect(provider.seen).toEqual([])
  })

  test('an answer that ends at its limit, or fails inside the stream, is a model failure with its reason', async () => {
    await start([{ chunks: [responsesStream({ text: 'hi', stop: 'max_output_tokens' })] }])
    await post()
    expect(proxy.run.failure?.message).toBe('model failed: the answer was cut off at its length limit')
    const error = { code: 'server_error', message: 'canary-key is overloaded' }
    const failed = `data: ${JSON.stringify({ type: 'response.failed', response: { status: 'failed', error } })}\n\n`
    await start([{ chunks: [failed] }])
    expect((await post()).whole).toBe(false)
    expect(proxy.run.failure?.message).toBe(
      'model failed: openai stopped with an error (server_error): [removed] is overloaded',
    )
  })

  test('a rehearsal is played, also when the library refers to items by id', async () => {
    const script = [
      { say: 'Let me see.', call: { tool: 'look', input: { id: '$input.order' } } },
      { output: { done: true } },
    ]
    await start([], { wedge: wedgeWithRehearsals({ triage: script }) }, '')
    const first = await proxy.call({ ...hello, stream: false }, { path: 'v1/responses' })
    expect(first.body['output']).toMatchObject([
      { type: 'message', content: [{ text: 'Let me see.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look' },
    ])
    const items = (first.body['output'] as JsonObject[]).map(({ id = '' }) => ({ type: 'item_reference', id }))
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'ok' }
    const second = await proxy.call({ ...hello, input: [...items, result] }, { path: 'v1/responses' })
    expect(second.text).toContain('event: response.completed')
    expect(second.text).toContain(String.raw`{\"done\":true}`)
  })
})
