import { describe, expect, test } from 'vitest'
import { type ModelProxy, helloRequest, openModelProxy } from './model-proxy.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'

const MIB = 1024 * 1024
const STOP = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'

let desk: ModelProxy
let provider: FakeProvider

/** 100 MiB of the same, after what comes first. */
async function start(piece: string, first: string[] = [], type = 'text/event-stream'): Promise<void> {
  const flood = Buffer.from(piece)
  const chunks = [...first, ...Array.from({ length: 100 }, () => flood)]
  provider = await fakeProvider({ chunks, headers: { 'content-type': type } })
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.url, SVC_MODEL: 'openai/gpt-4o' }
  desk = await openModelProxy(env)
}

describe('an answer of more than 64 MiB', () => {
  // What the sockets hold comes on top.
  const most = 80
  const failure = { reason: 'model_failed', message: 'model failed: openai sent more than 64 MiB in one answer' }

  test('whose frame never ends is cut off, charged by what went past, and fails the model', async () => {
    await start(`data: ${'x'.repeat(MIB)}\n`)
    expect((await desk.call()).whole).toBe(false)
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(most)
    expect(desk.run).toMatchObject({ failure, reservedMicros: 0 })
    expect(await desk.charges()).toHaveLength(1)
  })

  test('in one piece is refused', async () => {
    await start('x'.repeat(MIB), [], 'application/json')
    const heard = await desk.call({ ...helloRequest, stream: false })
    expect(heard).toMatchObject({ status: 502, body: { error: 'openai sent more than 64 MiB in one answer' } })
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(most)
    expect(desk.run).toMatchObject({ failure, reservedMicros: 0 })
  })

  test('after whose last word noise follows is cut off there', async () => {
    await start(`: ${'x'.repeat(MIB)}\n\n`, [STOP])
    expect(await desk.call()).toMatchObject({ status: 200, whole: true })
    await provider.seen[0]?.closed
    expect(provider.written()).toBeLessThan(most)
  })
})
