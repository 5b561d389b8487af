import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { Config } from '../config/config.ts'

export interface ModelChoice {
  provider: 'anthropic' | 'openai' | 'rehearsal'
  name: string
  /** The provider whose API format the model uses. */
  wire: ModelProvider
}

/** The model of the project's tier, else the default model of the deployment, else the rehearsal. */
export function chooseModel(config: Config, tier: string): ModelChoice {
  const key = tier.toLowerCase().replace(/[^a-z0-9]/g, '_')
  const choice = Object.hasOwn(config.models, key) ? config.models[key] : config.models['default']
  // In this format one event carries a whole reply, so a rehearsed turn is cheap to write and to read.
  if (choice === undefined) return { provider: 'rehearsal', name: 'rehearsal', wire: 'openai' }
  const slash = choice.indexOf('/')
  const provider = choice.slice(0, slash) === 'anthropic' ? 'anthropic' : 'openai'
  return { provider, name: choice.slice(slash + 1), wire: provider }
}
