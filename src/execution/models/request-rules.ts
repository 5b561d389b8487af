import type { Json, JsonObject } from '../../platform/base/json.ts'
import { listField } from '../../platform/base/json-fields.ts'
import type { ModelApi } from '../../platform/contract/providers/provider-formats.ts'

/**
 * How the proxy writes the request of one API. Every field of a request has one of four classes, and a field without a class
 * is refused, because it may change the meaning of the request.
 */
interface RequestRules {
  /** Fields that are passed on to the provider. */
  forwarded: readonly string[]
  /** Fields that the proxy sets by itself, so that they do not count as dropped. */
  replaced: readonly string[]
  /** Fields without which the answer means the same: they label a request, change its price or its speed, or ask for a report. */
  dropped: { labels: readonly string[]; prices: readonly string[]; hints: readonly string[] }
  /** Fields that the proxy does not pass on and whose absence would change the meaning, each with the end of a sentence. */
  refused: Record<string, string>
  /** For requests without a limit; reasoning models need tokens for the reasoning and for the answer. */
  defaultMaxTokens: number
  /** The field that limits the length of the answer, by the name that the model expects. */
  limitField: (model: string) => LimitField
  /** The fields that the proxy adds to those of the agent. */
  addedFields: (body: JsonObject, model: string) => JsonObject
}

export type LimitField = 'max_tokens' | 'max_completion_tokens' | 'max_output_tokens'

/** Newer models of OpenAI refuse `max_tokens`; compatible servers may support only that name. */
const REASONING_MODEL = /^(gpt-[5-9]|o\d)/

const SEND_WHOLE = 'must not be set: nothing is stored at the provider, so send the whole conversation as `input`'
const RUNS_AT_PROVIDER = 'must not be set: tools must not run at the provider, so use function tools'
const NOT_MODERATED = 'must not be set: the service does not pass it on, so check texts in your program'

export const REQUEST_RULES: Record<ModelApi, RequestRules> = {
  anthropic: {
    forwarded: splitWords(`system messages tools tool_choice stream stop_sequences temperature top_p top_k thinking
      output_config output_format cache_control context_management`),
    replaced: ['model', 'max_tokens'],
    dropped: {
      labels: ['metadata'],
      prices: ['service_tier', 'billing_policy', 'fallback_credit_token'],
      hints: ['speed', 'diagnostics'],
    },
    refused: {
      thread: 'must not be set: nothing is stored at the provider, so send the whole conversation as `messages`',
      mcp_servers: RUNS_AT_PROVIDER,
      container: RUNS_AT_PROVIDER,
      compaction: 'must not be set: ask the model for a summary in `messages`',
      fallbacks: 'must not be set: the models of a run are those of SVC_MODEL',
      inference_geo: 'must not be set: the region is that of the API key of the service',
    },
    defaultMaxTokens: 8192,
    limitField: () => 'max_tokens',
    addedFields: () => ({}),
  },
  openai: {
    forwarded: splitWords(`messages tools tool_choice parallel_tool_calls stream stop response_format seed temperature
      top_p top_k min_p frequency_penalty presence_penalty repetition_penalty logit_bias logprobs top_logprobs
      reasoning_effort verbosity chat_template_kwargs`),
    replaced: ['model', 'max_tokens', 'max_completion_tokens', 'stream_options'],
    dropped: {
      labels: ['metadata', 'user', 'safety_identifier', 'store'],
      prices: ['service_tier', 'prompt_cache_retention'],
      hints: ['prediction', 'prompt_cache_key', 'prompt_cache_options'],
    },
    refused: {
      n: 'must be 1: send the request once for each answer',
      modalities: 'must be ["text"]: answers are text',
      audio: 'must not be set: answers are text',
      functions: 'must not be set: write functions as `tools`',
      function_call: 'must not be set: use `tool_choice`',
      web_search_options: RUNS_AT_PROVIDER,
      moderation: NOT_MODERATED,
    },
    defaultMaxTokens: 16_384,
    limitField: (model) => (REASONING_MODEL.test(model) ? 'max_completion_tokens' : 'max_tokens'),
    addedFields: ({ stream }): JsonObject => (stream === true ? { stream_options: { include_usage: true } } : {}),
  },
  responses: {
    forwarded: splitWords(`input instructions tools tool_choice parallel_tool_calls stream text reasoning temperature
      top_p top_logprobs truncation include image`),
    replaced: ['model', 'max_output_tokens', 'stream_options'],
    dropped: {
      labels: ['metadata', 'user', 'safety_identifier'],
      prices: ['service_tier', 'prompt_cache_retention'],
      // Limits only tools that run at the provider, and those are refused.
      hints: ['prompt_cache_key', 'prompt_cache_options', 'max_tool_calls'],
    },
    // A sandbox must not leave data at the provider, or read what other calls left there.
    refused: {
      store: 'must not be true: nothing is stored at the provider',
      background: 'must not be true: a response is read while it is made',
      previous_response_id: SEND_WHOLE,
      conversation: SEND_WHOLE,
      prompt: 'must not be set: write the prompt as `instructions`',
      context_management: 'must not be set: shorten the conversation in your program',
      access_programs: 'must not be set: the service does not pass it on',
      moderation: NOT_MODERATED,
    },
    defaultMaxTokens: 16_384,
    limitField: () => 'max_output_tokens',
    addedFields: (body, model) => ({ store: false, ...includedFields(body, model) }),
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

function splitWords(text: string): string[] {
  return text.split(/\s+/)
}
