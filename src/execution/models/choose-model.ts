import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import type { Config } from '../../platform/config/config.ts'

export interface ModelChoice {
  provider: 'anthropic' | 'openai' | 'rehearsal'
  name: string
  /** The provider whose API format the model uses. */
  wire: ModelProvider
}

/** The model of the first tier that has one, else the default model of the deployment, else the rehearsal. */
export function chooseModel(config: Config, ...tiers: (string | undefined)[]): ModelChoice {
  return chooseModels(config, ...tiers)[0]
}

/** The same, followed by the models that replace it when it is not available. */
export function chooseModels(config: Config, ...tiers: (string | undefined)[]): [ModelChoice, ...ModelChoice[]] {
  const keys = tiers.map((tier) => tier?.toLowerCase().replace(/[^a-z0-9]/g, '_') ?? '')
  const key = keys.find((tier) => Object.hasOwn(config.models, tier)) ?? 'default'
  const [first, ...others] = (config.models[key] ?? []).map(toModelChoice)
  // In this format one event carries a whole reply, so a rehearsed turn is cheap to write and to read.
  return first ? [first, ...others] : [{ provider: 'rehearsal', name: 'rehearsal', wire: 'openai' }]
}

function toModelChoice(choice: string): ModelChoice {
  const slash = choice.indexOf('/')
  const provider = choice.slice(0, slash) === 'anthropic' ? 'anthropic' : 'openai'
  return { provider, name: choice.slice(slash + 1), wire: provider }
}
