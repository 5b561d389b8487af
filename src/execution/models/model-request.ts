import type { JsonObject } from '../../platform/base/json.ts'
import { countField, objectField, pickFields } from '../../platform/base/json-fields.ts'
import type { ModelApi } from '../../platform/contract/providers/provider-formats.ts'
import { type LimitField, REQUEST_RULES } from './request-rules.ts'
import { refuseOutsideContent } from './restrict-request.ts'

export interface ModelRequest {
  api: ModelApi
  body: JsonObject & { model: string }
  streams: boolean
  limitField: LimitField
  maxTokens: number
  /** An answer with fewer tokens would be useless. */
  minTokens: number
  /** The fields of the agent that are not passed on. */
  dropped: string[]
}

const MIN_ANSWER_TOKENS = 256

/**
 * The request as it is sent to the provider: only known fields, the model of the run, usage always reported, and an
 * answer of at most `ceiling` tokens, if the operator set one.
 */
export function toModelRequest(
  model: string,
  api: ModelApi,
  requested: JsonObject,
  ceiling: number | null,
): ModelRequest {
  const rules = REQUEST_RULES[api]
  const body: ModelRequest['body'] = { model, ...pickFields(requested, ...rules.forwarded) }
  refuseOutsideContent(api, body)
  Object.assign(body, rules.addedFields(body, model))
  const limitField = rules.limitField(model)
  const wanted = LIMIT_FIELDS.map((field) => countField(requested, field)).find(Boolean)
  const maxTokens = Math.min(wanted ?? ceiling ?? rules.defaultMaxTokens, ceiling ?? Infinity)
  const thinking = countField(objectField(body, 'thinking'), 'budget_tokens') ?? 0
  const minTokens = Math.min(maxTokens, thinking + MIN_ANSWER_TOKENS)
  body[limitField] = maxTokens
  const dropped = droppedFields(api, requested)
  return { api, body, streams: body.stream === true, limitField, maxTokens, minTokens, dropped }
}

const LIMIT_FIELDS: LimitField[] = ['max_output_tokens', 'max_completion_tokens', 'max_tokens']

/** A label, a price or a hint; other fields that are not passed on were refused before. */
function droppedFields(api: ModelApi, requested: JsonObject): string[] {
  const known = new Set(Object.values(REQUEST_RULES[api].dropped).flat())
  return Object.keys(requested).filter((field) => known.has(field) && requested[field] !== null)
}

/** Tells the agent which of its fields had no effect. */
export function droppedFieldsHeader({ dropped }: ModelRequest): Record<string, string> {
  return dropped.length > 0 ? { 'x-svc-dropped-fields': dropped.join(', ') } : {}
}
