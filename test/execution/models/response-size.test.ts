import { describe, expect, test } from 'vitest'
import { type ModelProxy, helloRequest, openModelProxy } from './model-proxy.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'

const MIB = 1024 * 1024
const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'

let proxy: ModelProxy
let provider: FakeProvider

/** Sends `first`, and then the same chunk 100 times, which is 100 MiB. */
async function start(piece: string, first: string[] = [], type = 'text/event-stream'): Promise<void> {
  const flood = Buffer.from(piece)
  const chunks = [...first, ...Array.from({ length: 100 }, () => flood)]
  provider = await fakeProvider({ chunks, headers: { 'content-type': type } })
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.url, SVC_MODEL: 'openai/gpt-4o' }
  proxy = await openModelProxy(env)
}

describe('response of more than 64 MiB', () => {
  // More than 64, because socket buffers hold some chunks as well.
  const maxChunks = 80
  const failure = { reason: 'model_failed', message: 'model failed: openai sent more than 64 MiB in one answer' }

  test('a stream with an event without an end is cut off, charged by what was streamed, and a model failure', async () => {
    await start(`data: ${'x'.repeat(MIB)}\n`)
    expect((await proxy.call()).whole).toBe(false)
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(maxChunks)
    expect(proxy.run).toMatchObject({ failure, reservedMicros: 0 })
    expect(await proxy.charges()).toHaveLength(1)
  })

  test('a response that is not streamed is refused', async () => {
    await start('x'.repeat(MIB), [], 'application/json')
    const response = await proxy.call({ ...helloRequest, stream: false })
    expect(response).toMatchObject({ status: 502, body: { error: 'openai sent more than 64 MiB in one answer' } })
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(maxChunks)
    expect(proxy.run).toMatchObject({ failure, reservedMicros: 0 })
  })

  test('a stream that continues after the end of the reply is cut off there', async () => {
    await start(`: ${'x'.repeat(MIB)}\n\n`, [STOP])
    expect(await proxy.call()).toMatchObject({ status: 200, whole: true })
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(maxChunks)
  })
})

describe('an answer with more than a million values', () => {
  const values = `[${'{},'.repeat(1_000_000)}{}]`

  const call = async (chunks: string[], type: string, request: object = helloRequest) => {
    provider = await fakeProvider({ chunks, headers: { 'content-type': type } })
    proxy = await openModelProxy({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.url, SVC_MODEL: 'openai/gpt-4o' })
    return proxy.call({ ...helloRequest, ...request })
  }

  test('that is not streamed is refused before it is parsed', async () => {
    const message = { role: 'assistant', content: 'hi' }
    const choices = JSON.stringify([{ index: 0, message, finish_reason: 'stop' }])
    const answer = `{"choices":${choices},"a":${values}}`
    const response = await call([answer], 'application/json', { stream: false })
    expect(response).toMatchObject({ status: 502, body: { error: 'openai did not answer with json' } })
  })

  test('in an event of a stream is a malformed event', async () => {
    await call([`data: {"a":${values}}\n\n`, STOP], 'text/event-stream')
    expect(proxy.run.failure?.message).toBe('model failed: openai sent a malformed event')
  })
})
