import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { type FakeProvider, type ProviderReply, fakeProvider, providerStreams } from './fake-provider.ts'
import { helloRequest, type ModelProxy, openModelProxy } from './model-proxy.ts'

let proxy: ModelProxy
let provider: FakeProvider

async function start(replies: ProviderReply[], env: Record<string, string> = {}, run = {}): Promise<void> {
  provider = await fakeProvider(...replies)
  const models = { SVC_MODEL: 'openai/gpt-4o, openai/gpt-4o-mini', OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'k' }
  proxy = await openModelProxy({ ...models, ...env }, run)
  proxy.clock.hurry = true
}

const whole: ProviderReply = { chunks: [providerStreams.openai({ text: 'hi' })] }
const models = () => provider.seen.map(({ body }) => body['model'])

async function switches(): Promise<unknown[]> {
  const rows = await proxy.ctx.db.selectFrom('events').selectAll().orderBy('seq').execute()
  return rows.filter(({ type }) => type === 'progress').map(({ data }) => JSON.parse(data).model)
}

describe('fallback models', () => {
  test.each([429, 500, 529])('after two answers with %i the run keeps the next model', async (status) => {
    await start([{ status }, { status }, whole])
    expect((await proxy.call()).status).toBe(200)
    await proxy.call()
    expect(models()).toEqual(['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'gpt-4o-mini'])
    expect(await switches()).toEqual(['openai/gpt-4o-mini'])
    expect(await proxy.charges()).toMatchObject([{ model: 'gpt-4o-mini' }, { model: 'gpt-4o-mini' }])
    expect(proxy.run).toMatchObject({ failure: null, reservedMicros: 0, openCalls: 0 })
  })

  test('the next model is shown files again, although the model before it refused them', async () => {
    await start([{ status: 503 }, { status: 503 }, whole], {}, { refusesFiles: true })
    await proxy.call()
    expect(proxy.run).toMatchObject({ model: { name: 'gpt-4o-mini' }, refusesFiles: false })
  })

  test('a provider that asks for a wait of six seconds is not waited for', async () => {
    await start([{ status: 429, headers: { 'retry-after': '6' } }, whole])
    expect((await proxy.call()).status).toBe(200)
    expect(proxy.clock.waits.filter((ms) => ms >= 5000 && ms < 60_000)).toEqual([])
    expect(models()).toEqual(['gpt-4o', 'gpt-4o-mini'])
  })

  test('a model that sends nothing for SVC_MODEL_TIMEOUT_S is replaced', async () => {
    await start([{ chunks: [], ending: 'stay' }, whole], { SVC_MODEL_TIMEOUT_S: '100' })
    const response = await proxy.clock.until(proxy.call(), 30_000)
    expect(response.status).toBe(200)
    expect(await switches()).toEqual(['openai/gpt-4o-mini'])
  })

  test.each([400, 401, 404, 422])('a refusal with %i is not repeated with another model', async (status) => {
    await start([{ status, json: { error: { message: 'no' } } }])
    expect((await proxy.call()).status).toBe(502)
    expect([models(), await switches()]).toEqual([['gpt-4o'], []])
  })

  test('when no model is available, the failure of the last one is the error', async () => {
    await start([{ status: 503 }])
    const response = await proxy.call()
    expect(response.body['error']).toBe('openai answered 503 after 4 attempts')
    expect(models()).toEqual(['gpt-4o', 'gpt-4o', ...Array.from({ length: 4 }, () => 'gpt-4o-mini')])
    expect(proxy.run.openCalls).toBe(0)
  })

  test('calls that fail at the same time switch once', async () => {
    const down = Array.from({ length: 4 }, () => ({ status: 503 }))
    await start([...down, whole])
    const responses = await Promise.all([proxy.call(), proxy.call()])
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(await switches()).toEqual(['openai/gpt-4o-mini'])
  })

  test('the next model is reserved at its own price, so that the ceiling holds', async () => {
    const env = { SVC_MODEL: 'openai/gpt-4o-mini,openai/gpt-5.5' }
    await start([{ status: 503 }], env, { maxCostMicros: 5000 })
    expect((await proxy.call({ ...helloRequest, max_tokens: 500 })).status).toBe(402)
    expect(models()).toEqual(['gpt-4o-mini', 'gpt-4o-mini'])
  })
})

describe('model settings', () => {
  test.each([
    ['openai/a,anthropic/b', /^SVC_MODEL must name models of one provider/],
    ['openai/a,', /^SVC_MODEL must be anthropic\/NAME or openai\/NAME/],
  ])('SVC_MODEL=%s is refused at start', (SVC_MODEL, sentence) => {
    expect(() => loadConfig({ SVC_MODEL })).toThrow(sentence)
  })

  test('a price of 0 in SVC_PRICES makes calls free, known and unlimited', async () => {
    const SVC_PRICES = priceFile({ 'qwen3:8b': { input: 0, output: 0 } })
    await start([whole], { SVC_MODEL: 'openai/qwen3:8b', SVC_PRICES }, { maxCostMicros: 1 })
    expect((await proxy.call()).status).toBe(200)
    const [charge] = await proxy.charges()
    expect(charge).toMatchObject({ model: 'qwen3:8b', input_tokens: 1000, output_tokens: 100 })
    expect(charge).toMatchObject({ cost_usd: 0, total_usd: 0 })
    expect(charge).not.toHaveProperty('unpriced')
  })

  test('prices of SVC_PRICES come before the list prices', async () => {
    const SVC_PRICES = priceFile({ 'gpt-4o': { input: 1, output: 2, cache_read: 0.5 } })
    await start([whole], { SVC_PRICES })
    await proxy.call()
    expect(await proxy.costMicros()).toBe(800 + 200 * 0.5 + 100 * 2)
  })

  test.each<[string, unknown, RegExp]>([
    ['a negative price', { a: { input: -1, output: 1 } }, /at 'a\.input'/],
    ['a misspelt field', { a: { input: 1, output: 1, cached: 1 } }, /at 'a'/],
    ['a missing field', { a: { input: 1 } }, /at 'a\.output'/],
    ['a list', [], /must name a JSON file/],
  ])('%s in SVC_PRICES is refused at start', (_, prices, sentence) => {
    expect(() => loadConfig({ SVC_PRICES: priceFile(prices) })).toThrow(sentence)
  })

  test('a file that does not exist is refused at start', () => {
    expect(() => loadConfig({ SVC_PRICES: '/nowhere/prices.json' })).toThrow(/^SVC_PRICES cannot be read/)
  })
})

function priceFile(prices: unknown): string {
  const dir = mkdtempSync(join(tmpdir(), 'prices-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFileSync(join(dir, 'prices.json'), JSON.stringify(prices))
  return join(dir, 'prices.json')
}
