import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { errorMessage } from '../base/error-message.ts'
import { tryParseJson } from '../base/json-fields.ts'

/** Settings that look like the model of a tier. */
const OTHER_SETTINGS = ['SVC_MODEL_MAX_TOKENS', 'SVC_MODEL_TIMEOUT_S']

/** The models of each tier, the preferred one first. */
export function readModelSettings(env: Record<string, string | undefined>): Record<string, string[]> {
  const models: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(env)) {
    const tier = /^SVC_MODEL(?:_([A-Z0-9_]+))?$/.exec(name)
    if (!tier || !value || OTHER_SETTINGS.includes(name)) continue
    models[tier[1]?.toLowerCase() ?? 'default'] = parseModels(name, value)
  }
  return models
}

function parseModels(name: string, value: string): string[] {
  const models = value.split(',').map((model) => model.trim())
  if (!models.every((model) => /^(anthropic|openai)\/.+/.test(model)))
    throw new Error(`${name} must be anthropic/NAME or openai/NAME, or several of them with commas`)
  // An agent writes its conversation in the format of one provider.
  if (new Set(models.map((model) => model.split('/')[0])).size > 1)
    throw new Error(`${name} must name models of one provider: a run cannot change to the format of another`)
  return models
}

const usdPerMillionTokens = z.number().nonnegative()

const PriceFile = z.record(
  z.string(),
  z.strictObject({
    input: usdPerMillionTokens,
    output: usdPerMillionTokens,
    cache_read: usdPerMillionTokens.optional(),
    cache_write: usdPerMillionTokens.optional(),
  }),
)

export interface SetPrice {
  input: number
  output: number
  cached: number
  cacheWrite?: number
}

/** The prices of the file that SVC_PRICES names. Without a price for cached input, it costs as much as other input. */
export function readPriceFile(path: string | undefined): Record<string, SetPrice> {
  if (!path) return {}
  const parsed = PriceFile.safeParse(tryParseJson(readPrices(path)))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const field = issue && issue.path.length > 0 ? ` at '${issue.path.join('.')}': ${issue.message}` : ''
    throw new Error(`SVC_PRICES must name a JSON file such as {"NAME": {"input": 1, "output": 5}}${field}`)
  }
  return Object.fromEntries(
    Object.entries(parsed.data).map(([model, { input, output, cache_read = input, cache_write }]) => [
      model,
      { input, output, cached: cache_read, ...(cache_write !== undefined && { cacheWrite: cache_write }) },
    ]),
  )
}

function readPrices(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`SVC_PRICES cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}
