import type { JsonObject } from '../../../platform/base/json.ts'
import type { RehearsedResponse } from './rehearsed-response.ts'

export const REHEARSAL_MODEL = 'rehearsal'

export type TypedEvent = { type: string } & JsonObject

/** A rehearsed reply in the Responses API. */
export function responsesObject(turn: number, status: string, output: JsonObject[]): JsonObject {
  const usage = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  }
  return {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 0,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: null,
    model: REHEARSAL_MODEL,
    output,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: status === 'completed' ? usage : null,
  }
}

export function toOutputItems({ turn, text, call }: RehearsedResponse): JsonObject[] {
  const content = [{ type: 'output_text', text, annotations: [] }]
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', status: 'completed', content }
  if (!call) return [message]
  const item = {
    id: `fc_${call.id}`,
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.input),
  }
  return text === '' ? [item] : [message, item]
}

export function responsesEvents(reply: RehearsedResponse): TypedEvent[] {
  const items = toOutputItems(reply)
  return [
    { type: 'response.created', response: responsesObject(reply.turn, 'in_progress', []) },
    ...items.flatMap((item, output_index) =>
      item.type === 'message' ? messageEvents(item, output_index, reply.text) : callEvents(item, output_index),
    ),
    { type: 'response.completed', response: responsesObject(reply.turn, 'completed', items) },
  ]
}

/** Clients of this API expect that an item starts empty and is then filled. */
function messageEvents(item: JsonObject, output_index: number, text: string): TypedEvent[] {
  const at = { item_id: item.id ?? null, output_index, content_index: 0 }
  const part = { type: 'output_text', text, annotations: [] }
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...at, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index, item },
  ]
}

function callEvents(item: JsonObject, output_index: number): TypedEvent[] {
  const at = { item_id: item.id ?? null, output_index }
  const { name = null, arguments: text = '' } = item
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', arguments: '' } },
    { type: 'response.function_call_arguments.delta', ...at, delta: text },
    { type: 'response.function_call_arguments.done', ...at, name, arguments: text },
    { type: 'response.output_item.done', output_index, item },
  ]
}
