import type { Json, JsonObject } from '../base/json.ts'
import { listField } from '../base/json-fields.ts'
import { badRequest } from '../base/problem.ts'
import type { ModelApi } from '../contract/providers/provider-formats.ts'

/** How the proxy writes the request of one API. */
interface RequestRules {
  /**
   * Fields that are passed on to the provider. Left out are fields that multiply the price (`n`, service tiers), that let
   * the provider act or fetch (`mcp_servers`, web search, containers), or that store or label data at the provider.
   */
  forwarded: readonly string[]
  /** Fields that the proxy sets by itself, so that they do not count as dropped. */
  replaced: readonly string[]
  /** For requests without a limit; reasoning models need tokens for the reasoning and for the answer. */
  defaultMaxTokens: number
  /** The field that limits the length of the answer, by the name that the model expects. */
  limitField: (model: string) => LimitField
  /** The fields that the proxy adds to those of the agent. */
  addedFields: (body: JsonObject, model: string) => JsonObject
  /** Throws a 400 for a request that would mean something else without one of its fields. */
  refuseRequest: (requested: JsonObject) => void
}

export type LimitField = 'max_tokens' | 'max_completion_tokens' | 'max_output_tokens'

/** Newer models of OpenAI refuse `max_tokens`; compatible servers may support only that name. */
const REASONING_MODEL = /^(gpt-[5-9]|o\d)/

export const REQUEST_RULES: Record<ModelApi, RequestRules> = {
  anthropic: {
    forwarded: splitWords(`system messages tools tool_choice stream stop_sequences temperature top_p top_k thinking
      output_config cache_control`),
    replaced: ['model', 'max_tokens'],
    defaultMaxTokens: 8192,
    limitField: () => 'max_tokens',
    addedFields: () => ({}),
    refuseRequest: () => {},
  },
  openai: {
    forwarded: splitWords(`messages tools tool_choice parallel_tool_calls stream stop response_format seed temperature
      top_p top_k min_p frequency_penalty presence_penalty repetition_penalty logit_bias reasoning_effort verbosity
      chat_template_kwargs`),
    replaced: ['model', 'max_tokens', 'max_completion_tokens', 'stream_options'],
    defaultMaxTokens: 16_384,
    limitField: (model) => (REASONING_MODEL.test(model) ? 'max_completion_tokens' : 'max_tokens'),
    addedFields: ({ stream }): JsonObject => (stream === true ? { stream_options: { include_usage: true } } : {}),
    refuseRequest: () => {},
  },
  responses: {
    forwarded: splitWords(`input instructions tools tool_choice parallel_tool_calls stream text reasoning temperature
      top_p top_logprobs truncation include`),
    replaced: ['model', 'max_output_tokens', 'store', 'stream_options'],
    defaultMaxTokens: 16_384,
    limitField: () => 'max_output_tokens',
    addedFields: (body, model) => ({ store: false, ...includedFields(body, model) }),
    refuseRequest: refuseStoredState,
  },
}

/** Without `store` a reasoning model needs its reasoning back, and only the encrypted form can be sent back. */
function includedFields(body: JsonObject, model: string): JsonObject {
  const wanted = listField(body, 'include').filter((field) => INCLUDABLE_FIELDS.includes(field))
  const include = new Set([...wanted, ...(REASONING_MODEL.test(model) ? [ENCRYPTED_REASONING] : [])])
  return include.size > 0 || body.include !== undefined ? { include: [...include] } : {}
}

const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
/** All other fields are results of tools that run at the provider. */
const INCLUDABLE_FIELDS: readonly Json[] = [ENCRYPTED_REASONING, 'message.output_text.logprobs']

/** A sandbox must not leave data at the provider, or read what other calls left there. */
function refuseStoredState(requested: JsonObject): void {
  for (const [field, sentence] of STORED_STATE) {
    const value = requested[field]
    if (value !== undefined && value !== null && value !== false) throw badRequest(`field '${field}' ${sentence}`)
  }
}

const SEND_WHOLE = 'must not be set: nothing is stored at the provider, so send the whole conversation as `input`'
const STORED_STATE = [
  ['store', 'must not be true: nothing is stored at the provider'],
  ['background', 'must not be true: a response is read while it is made'],
  ['previous_response_id', SEND_WHOLE],
  ['conversation', SEND_WHOLE],
  ['prompt', 'must not be set: write the prompt as `instructions`'],
] as const

function splitWords(text: string): string[] {
  return text.split(/\s+/)
}
