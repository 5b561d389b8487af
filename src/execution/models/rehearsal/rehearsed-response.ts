import type { Json, JsonObject } from '../../../platform/base/json.ts'
import type { ModelApi } from '../../../platform/contract/providers/provider-formats.ts'
import { REHEARSAL_MODEL, responsesEvents, responsesObject, toOutputItems, type TypedEvent } from './rehearsed-items.ts'

/** A rehearsed reply: text, a tool call, or both. */
export interface RehearsedResponse {
  /** Counts from 1. It is in the ids of replies, because libraries take two replies with one id as versions of one. */
  turn: number
  text: string
  call: { id: string; name: string; input: Json } | null
}

interface RehearsedFormat {
  /** The reply as a provider streams it. */
  toResponseStream: (reply: RehearsedResponse) => string
  /** The reply as a provider sends it without streaming. */
  toWholeResponse: (reply: RehearsedResponse) => JsonObject
}

export const REHEARSED_RESPONSES: Record<ModelApi, RehearsedFormat> = {
  openai: {
    toResponseStream(reply) {
      const choice = { index: 0, delta: openaiMessage(reply, true), finish_reason: openaiStop(reply) }
      return `data: ${JSON.stringify(openaiResponse(reply, 'chat.completion.chunk', choice))}\n\ndata: [DONE]\n\n`
    },
    toWholeResponse(reply) {
      const choice = { index: 0, message: openaiMessage(reply, false), finish_reason: openaiStop(reply) }
      return openaiResponse(reply, 'chat.completion', choice)
    },
  },
  anthropic: {
    toResponseStream(reply) {
      const start = { type: 'message_start', message: { ...anthropicMessage(reply, []), usage: ANTHROPIC_USAGE } }
      const stop = { stop_reason: anthropicStop(reply), stop_sequence: null }
      return toEventStream([
        start,
        ...anthropicBlocks(reply).flatMap(blockEvents),
        { type: 'message_delta', delta: stop, usage: ANTHROPIC_USAGE },
        { type: 'message_stop' },
      ])
    },
    toWholeResponse(reply) {
      const message = anthropicMessage(reply, anthropicBlocks(reply))
      return { ...message, stop_reason: anthropicStop(reply), stop_sequence: null, usage: ANTHROPIC_USAGE }
    },
  },
  responses: {
    toResponseStream: (reply) =>
      toEventStream(responsesEvents(reply).map((event, i) => ({ ...event, sequence_number: i }))),
    toWholeResponse: (reply) => responsesObject(reply.turn, 'completed', toOutputItems(reply)),
  },
}

const toEventStream = (events: TypedEvent[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const openaiResponse = ({ turn }: RehearsedResponse, object: string, choice: JsonObject): JsonObject => ({
  id: `chatcmpl_${turn}`,
  object,
  created: 0,
  model: REHEARSAL_MODEL,
  choices: [choice],
  usage: OPENAI_USAGE,
})

const OPENAI_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const ANTHROPIC_USAGE = { input_tokens: 0, output_tokens: 0 }

const openaiStop = ({ call }: RehearsedResponse) => (call ? 'tool_calls' : 'stop')
const anthropicStop = ({ call }: RehearsedResponse) => (call ? 'tool_use' : 'end_turn')

function openaiMessage({ text, call }: RehearsedResponse, streams: boolean): JsonObject {
  const message: JsonObject = { role: 'assistant', content: text === '' ? null : text }
  if (!call) return message
  const described: JsonObject = streams ? { index: 0 } : {}
  described.id = call.id
  described.type = 'function'
  described.function = { name: call.name, arguments: JSON.stringify(call.input) }
  message.tool_calls = [described]
  return message
}

function anthropicMessage({ turn }: RehearsedResponse, content: JsonObject[]): JsonObject {
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: REHEARSAL_MODEL }
  return { ...message, content, stop_reason: null }
}

function anthropicBlocks({ text, call }: RehearsedResponse): JsonObject[] {
  const texts = text === '' && call ? [] : [{ type: 'text', text }]
  return call ? [...texts, { type: 'tool_use', ...call }] : texts
}

/** Clients of this API expect that a block starts empty and is then filled. */
function blockEvents(block: JsonObject, index: number): TypedEvent[] {
  const isText = block.type === 'text'
  const content_block = isText ? { type: 'text', text: '' } : { ...block, input: {} }
  const delta: JsonObject = isText
    ? { type: 'text_delta', text: block.text ?? '' }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
  return [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
}
