import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { chooseModel } from '../../../src/execution/models/choose-model.ts'
import { costInMicros, priceOfModel } from '../../../src/execution/models/model-prices.ts'

const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 }

const listPrice = (name: string) => priceOfModel({ provider: 'openai', name }, {})

describe('model prices', () => {
  test.each([
    ['claude-sonnet-4-5', 3],
    ['claude-sonnet-4-5-20250929', 3],
    ['gpt-4o-2024-08-06', 2.5],
    ['gpt-4o-mini', 0.15],
  ])('the price of %s is known', (name, input) => {
    expect(listPrice(name)).toMatchObject({ input, priced: true })
  })

  test.each(['gpt-5-pro', 'gpt-4o-audio-preview', 'claude-opus-9', 'llama-4', 'constructor', ''])(
    'the price of %s is not guessed from its name',
    (name) => {
      expect(listPrice(name).priced).toBe(false)
    },
  )

  test('a price may be set for the name as in SVC_MODEL; one for the exact name comes first', () => {
    const [general, exact] = [
      { input: 7, output: 7, cached: 7 },
      { input: 8, output: 8, cached: 8 },
    ]
    const set = { 'openai/gpt-5': general, 'openai/gpt-5-2025-08-07': exact }
    const price = (name: string, provider: 'openai' | 'anthropic' = 'openai') => priceOfModel({ provider, name }, set)
    expect([price('gpt-5'), price('gpt-5-latest'), price('gpt-5-2025-08-07')]).toMatchObject([general, general, exact])
    // A server may itself have a model of this name.
    expect(price('openai/gpt-5')).toMatchObject(general)
    expect(price('gpt-5', 'anthropic')).toMatchObject({ input: 1.25 })
  })

  test('the cost includes cache reads and writes', () => {
    const usage = { input: 100, cacheRead: 1000, cacheWrite: 100, cacheWriteLong: 10, output: 20 }
    expect(costInMicros(listPrice('claude-sonnet-4-5'), usage)).toBe(300 + 300 + 375 + 60 + 300)
  })

  test('a long prompt multiplies the whole cost', () => {
    const rate = listPrice('claude-haiku-5-5')
    expect(costInMicros(rate, { ...none, input: 100_000, output: 10 })).toBe(10_005)
    expect(costInMicros(rate, { ...none, input: 90_000, cacheRead: 20_000, output: 10 })).toBe(45_000 + 1_000 + 25)
  })

  test('the cost is rounded up to whole micro-dollars without floating point errors', () => {
    expect(costInMicros(listPrice('gpt-6-luna'), { ...none, input: 3 })).toBe(1)
    expect(costInMicros(listPrice('gpt-6-luna'), { ...none, input: 30 })).toBe(3)
  })
})

describe('chooseModel', () => {
  const env = { SVC_MODEL: 'openai/meta/llama-4', SVC_MODEL_PRO_PLUS: 'anthropic/claude-opus-5-5' }

  test('the model of a tier is the one set for it, else the default of the deployment', () => {
    const config = loadConfig(env)
    expect(chooseModel(config, 'pro-plus')).toEqual({
      provider: 'anthropic',
      name: 'claude-opus-5-5',
      wire: 'anthropic',
    })
    expect(chooseModel(config, 'free')).toEqual({ provider: 'openai', name: 'meta/llama-4', wire: 'openai' })
    expect(chooseModel(config, 'constructor').name).toBe('meta/llama-4')
  })

  test('the tier of a task type comes before the tier of the project, if it has a model', () => {
    const config = loadConfig({ ...env, SVC_MODEL_FAST: 'openai/gpt-5-nano' })
    expect(chooseModel(config, 'fast', 'pro-plus').name).toBe('gpt-5-nano')
    expect(chooseModel(config, 'large', 'pro-plus').name).toBe('claude-opus-5-5')
    expect(chooseModel(config, undefined, 'free').name).toBe('meta/llama-4')
  })

  test('without a model setting the rehearsal is used', () => {
    expect(chooseModel(loadConfig({}), 'free').provider).toBe('rehearsal')
    expect(chooseModel(loadConfig({ SVC_MODEL_PRO: 'openai/x' }), 'free').provider).toBe('rehearsal')
  })
})
