import type { JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'
import { countOf, objectOf } from '../base/fields.ts'
import { refuseOutsideReach } from './reach.ts'
import type { ModelRun } from './run.ts'

export interface ModelRequest {
  body: JsonObject
  streams: boolean
  /** The field that bounds the answer, by the name that this model knows. */
  bound: 'max_tokens' | 'max_completion_tokens'
  maxTokens: number
  /** Below this no answer is worth having. */
  leastTokens: number
}

/** For a caller that names none; models that think before they answer need room for both. */
const MAX_ANSWER_TOKENS = 16_384
const LEAST_ANSWER_TOKENS = 256

/** The sandbox's request as it may leave: known fields only, the run's own model, usage always reported. */
export function requestFor(run: ModelRun, wire: Wire, asked: JsonObject): ModelRequest {
  const body: JsonObject = { model: run.model.name }
  for (const field of FIELDS[wire]) if (asked[field] !== undefined && asked[field] !== null) body[field] = asked[field]
  refuseOutsideReach(body)
  const streams = body.stream === true
  if (wire === 'openai' && streams) body.stream_options = { include_usage: true }
  const bound = wire === 'openai' && THINKING_MODEL.test(run.model.name) ? 'max_completion_tokens' : 'max_tokens'
  const maxTokens = countOf(asked, 'max_completion_tokens') || countOf(asked, 'max_tokens') || MAX_ANSWER_TOKENS
  const thinking = countOf(objectOf(body, 'thinking'), 'budget_tokens') ?? 0
  const leastTokens = Math.min(maxTokens, thinking + LEAST_ANSWER_TOKENS)
  body[bound] = maxTokens
  return { body, streams, bound, maxTokens, leastTokens }
}

/** OpenAI's newer models refuse `max_tokens`; compatible servers may know nothing else. */
const THINKING_MODEL = /^(gpt-[5-9]|o\d)/

/**
 * What the answer depends on. Left out is what would multiply its price (`n`, service tiers), what lets the provider
 * act or fetch (`mcp_servers`, web search, containers), and what would keep or label data at the provider.
 */
const FIELDS: Record<Wire, readonly string[]> = {
  anthropic: words(`system messages tools tool_choice stream stop_sequences temperature top_p top_k thinking
    output_config cache_control`),
  openai: words(`messages tools tool_choice parallel_tool_calls stream stop response_format seed temperature top_p top_k
    min_p frequency_penalty presence_penalty repetition_penalty logit_bias reasoning_effort verbosity
    chat_template_kwargs`),
}

function words(text: string): string[] {
  return text.split(/\s+/)
}
