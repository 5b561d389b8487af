import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { Config } from '../config/config.ts'

export interface ModelChoice {
  provider: 'anthropic' | 'openai' | 'rehearsal'
  name: string
  wire: ModelProvider
}

/** The model of the project's tier, else the deployment's; with neither set, the rehearsal. */
export function chooseModel(config: Config, tier: string): ModelChoice {
  const key = tier.toLowerCase().replace(/[^a-z0-9]/g, '_')
  const choice = Object.hasOwn(config.models, key) ? config.models[key] : config.models['default']
  // One frame carries a whole answer on this wire, so a rehearsed turn is cheapest to write and to read on it.
  if (choice === undefined) return { provider: 'rehearsal', name: 'rehearsal', wire: 'openai' }
  const slash = choice.indexOf('/')
  const provider = choice.slice(0, slash) === 'anthropic' ? 'anthropic' : 'openai'
  return { provider, name: choice.slice(slash + 1), wire: provider }
}
