import { anthropicFormat } from './anthropic.ts'
import { openaiFormat } from './openai.ts'
import { responsesFormat } from './openai-responses.ts'

export const PROVIDER_FORMATS = { anthropic: anthropicFormat, openai: openaiFormat, responses: responsesFormat }

/** The API of a model call. The main API of a provider has the name of the provider. */
export type ModelApi = keyof typeof PROVIDER_FORMATS
