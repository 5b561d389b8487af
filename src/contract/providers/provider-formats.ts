import type { ModelProvider } from '../agent-protocol.ts'
import { anthropicFormat } from './anthropic.ts'
import { openaiFormat } from './openai.ts'
import type { ProviderFormat } from './provider-format.ts'

export const PROVIDER_FORMATS: Record<ModelProvider, ProviderFormat> = {
  anthropic: anthropicFormat,
  openai: openaiFormat,
}
