import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { countField, objectField } from '../base/json-fields.ts'
import { refuseOutsideContent } from './restrict-request.ts'
import type { ModelRun } from './model-run.ts'

export interface ModelRequest {
  body: JsonObject
  streams: boolean
  /** The field that bounds the answer, by the name that this model knows. */
  limitField: 'max_tokens' | 'max_completion_tokens'
  maxTokens: number
  /** Below this no answer is worth having. */
  minTokens: number
}

/** For a caller that names none; models that think before they answer need room for both. */
const DEFAULT_MAX_ANSWER_TOKENS = 16_384
const MIN_ANSWER_TOKENS = 256

/** The sandbox's request as it may leave: known fields only, the run's own model, usage always reported. */
export function toModelRequest(run: ModelRun, wire: ModelProvider, asked: JsonObject): ModelRequest {
  const body: JsonObject = { model: run.model.name }
  for (const field of FORWARDED_FIELDS[wire])
    if (asked[field] !== undefined && asked[field] !== null) body[field] = asked[field]
  refuseOutsideContent(body)
  const streams = body.stream === true
  if (wire === 'openai' && streams) body.stream_options = { include_usage: true }
  const bound = wire === 'openai' && REASONING_MODEL.test(run.model.name) ? 'max_completion_tokens' : 'max_tokens'
  const maxTokens =
    countField(asked, 'max_completion_tokens') || countField(asked, 'max_tokens') || DEFAULT_MAX_ANSWER_TOKENS
  const thinking = countField(objectField(body, 'thinking'), 'budget_tokens') ?? 0
  const leastTokens = Math.min(maxTokens, thinking + MIN_ANSWER_TOKENS)
  body[bound] = maxTokens
  return { body, streams, limitField: bound, maxTokens, minTokens: leastTokens }
}

/** OpenAI's newer models refuse `max_tokens`; compatible servers may know nothing else. */
const REASONING_MODEL = /^(gpt-[5-9]|o\d)/

/**
 * What the answer depends on. Left out is what would multiply its price (`n`, service tiers), what lets the provider
 * act or fetch (`mcp_servers`, web search, containers), and what would keep or label data at the provider.
 */
const FORWARDED_FIELDS: Record<ModelProvider, readonly string[]> = {
  anthropic: splitWords(`system messages tools tool_choice stream stop_sequences temperature top_p top_k thinking
    output_config cache_control`),
  openai:
    splitWords(`messages tools tool_choice parallel_tool_calls stream stop response_format seed temperature top_p top_k
    min_p frequency_penalty presence_penalty repetition_penalty logit_bias reasoning_effort verbosity
    chat_template_kwargs`),
}

function splitWords(text: string): string[] {
  return text.split(/\s+/)
}
