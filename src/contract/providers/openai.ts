import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type {
  Conversation,
  ModelStreamEvent,
  StopReason,
  ToolSpec,
  ConversationTurn,
  ProviderFormat,
} from '../../harness/conversation.ts'
import { closeSchema, hasContent } from '../../harness/conversation.ts'
import { errorMessageIn, listField, objectField, textField } from '../../base/json-fields.ts'
import { toToolCall, type PartialToolCall } from '../../harness/open-call.ts'

export const openaiFormat: ProviderFormat = {
  path: '/v1/internal/llm/openai/v1/chat/completions',
  headers: {},
  body,
  reader,
}

function body(conversation: Conversation): JsonObject {
  const { tools, requiredTool: must, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: conversation.system },
      ...conversation.turns.filter(hasContent).flatMap(messages),
    ],
  }
  if (tools.length > 0) request.tools = tools.map(tool)
  if (must) request.tool_choice = { type: 'function', function: { name: must } }
  if (strictOutput) {
    const json_schema = { name: 'output', strict: true, schema: closeSchema(strictOutput) }
    request.response_format = { type: 'json_schema', json_schema }
  }
  if (temperature !== null) request.temperature = temperature
  return request
}

function tool({ name, description, schema, strict }: ToolSpec): JsonObject {
  const described = strict
    ? { name, description, parameters: closeSchema(schema), strict }
    : { name, description, parameters: schema }
  return { type: 'function', function: described }
}

function messages(turn: ConversationTurn): JsonObject[] {
  if (turn.by === 'user') return [{ role: 'user', content: turn.text }]
  if (turn.by === 'tools') {
    return turn.results.map((result) => ({ role: 'tool', tool_call_id: result.id, content: result.content }))
  }
  if (turn.calls.length === 0) return [{ role: 'assistant', content: turn.text }]
  const tool_calls = turn.calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  return [{ role: 'assistant', content: turn.text === '' ? null : turn.text, tool_calls }]
}

function reader(): (frame: JsonObject) => ModelStreamEvent[] {
  const open: PartialToolCall[] = []
  return (frame) => {
    if (isJsonObject(frame.error) || typeof frame.error === 'string') throw new Error(errorMessageIn(frame))
    const choice = listField(frame, 'choices')[0]
    if (!isJsonObject(choice)) return []
    const delta = objectField(choice, 'delta')
    const text = textField(delta, 'content')
    const happenings: ModelStreamEvent[] = text === '' ? [] : [{ kind: 'text', text }]
    for (const piece of listField(delta, 'tool_calls')) if (isJsonObject(piece)) grow(open, piece)
    const reason = textField(choice, 'finish_reason')
    if (reason === '') return happenings
    const calls = open.map((call): ModelStreamEvent => ({ kind: 'call', call: toToolCall(call) }))
    return [...happenings, ...calls, { kind: 'end', stop: stopOf(reason) }]
  }
}

/**
 * A piece belongs to the call at its index, but compatible servers leave the index out or send whole calls that all
 * claim index 0; a new id always begins a new call.
 */
function grow(open: PartialToolCall[], piece: JsonObject): void {
  const id = textField(piece, 'id')
  const index = piece.index
  const known = id === '' ? undefined : open.find((call) => call.id === id)
  const atIndex = typeof index === 'number' ? open[index] : open.at(-1)
  const call = known ?? (id === '' ? atIndex : undefined) ?? opened(open, id)
  const { name, arguments: json } = objectField(piece, 'function')
  if (typeof name === 'string') call.name ||= name
  if (typeof json === 'string') call.json += json
  else if (isJsonObject(json)) call.json = JSON.stringify(json)
}

function opened(open: PartialToolCall[], id: string): PartialToolCall {
  const call = { id: id || `call_${open.length + 1}`, name: '', json: '' }
  open.push(call)
  return call
}

function stopOf(reason: string): StopReason {
  if (reason === 'length') return 'length'
  return reason === 'content_filter' ? 'refusal' : 'done'
}
