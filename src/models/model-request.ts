import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { countField, objectField } from '../base/json-fields.ts'
import { refuseOutsideContent } from './restrict-request.ts'
import type { ModelRun } from './model-run.ts'

export interface ModelRequest {
  body: JsonObject
  streams: boolean
  /** The field that limits the length of the answer, by the name that the model expects. */
  limitField: 'max_tokens' | 'max_completion_tokens'
  maxTokens: number
  /** An answer with fewer tokens would be useless. */
  minTokens: number
}

/** For requests without a limit; reasoning models need tokens for the reasoning and for the answer. */
const DEFAULT_MAX_ANSWER_TOKENS: Record<ModelProvider, number> = { anthropic: 8192, openai: 16_384 }
const MIN_ANSWER_TOKENS = 256

/**
 * The request as it is sent to the provider: only known fields, the model of the run, usage always reported, and an
 * answer of at most `ceiling` tokens, if the operator set one.
 */
export function toModelRequest(
  run: ModelRun,
  wire: ModelProvider,
  requested: JsonObject,
  ceiling: number | null,
): ModelRequest {
  const body: JsonObject = { model: run.model.name }
  for (const field of FORWARDED_FIELDS[wire])
    if (requested[field] !== undefined && requested[field] !== null) body[field] = requested[field]
  refuseOutsideContent(body)
  const streams = body.stream === true
  if (wire === 'openai' && streams) body.stream_options = { include_usage: true }
  const limitField = wire === 'openai' && REASONING_MODEL.test(run.model.name) ? 'max_completion_tokens' : 'max_tokens'
  const wanted = countField(requested, 'max_completion_tokens') || countField(requested, 'max_tokens')
  const maxTokens = Math.min(wanted || (ceiling ?? DEFAULT_MAX_ANSWER_TOKENS[wire]), ceiling ?? Infinity)
  const thinking = countField(objectField(body, 'thinking'), 'budget_tokens') ?? 0
  const minTokens = Math.min(maxTokens, thinking + MIN_ANSWER_TOKENS)
  body[limitField] = maxTokens
  return { body, streams, limitField, maxTokens, minTokens }
}

/** Newer models of OpenAI refuse `max_tokens`; compatible servers may support only that name. */
const REASONING_MODEL = /^(gpt-[5-9]|o\d)/

/**
 * Fields that are passed on to the provider. Left out are fields that multiply the price (`n`, service tiers), that let
 * the provider act or fetch (`mcp_servers`, web search, containers), or that store or label data at the provider.
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
