import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { Conversation, Happening, Stop, ToolSpec, Turn, WireFormat } from './conversation.ts'
import { closed, saysSomething } from './conversation.ts'
import { errorSentence, listOf, objectOf, textOf } from '../base/fields.ts'
import { finishedCall, type OpenCall } from './open-call.ts'

export const openaiWire: WireFormat = {
  path: '/v1/internal/llm/openai/v1/chat/completions',
  headers: {},
  body,
  reader,
}

function body(conversation: Conversation): JsonObject {
  const { tools, must, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: conversation.system },
      ...conversation.turns.filter(saysSomething).flatMap(messages),
    ],
  }
  if (tools.length > 0) request.tools = tools.map(tool)
  if (must) request.tool_choice = { type: 'function', function: { name: must } }
  if (strictOutput) {
    const json_schema = { name: 'output', strict: true, schema: closed(strictOutput) }
    request.response_format = { type: 'json_schema', json_schema }
  }
  if (temperature !== null) request.temperature = temperature
  return request
}

function tool({ name, description, schema, strict }: ToolSpec): JsonObject {
  const described = strict
    ? { name, description, parameters: closed(schema), strict }
    : { name, description, parameters: schema }
  return { type: 'function', function: described }
}

function messages(turn: Turn): JsonObject[] {
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

function reader(): (frame: JsonObject) => Happening[] {
  const open: OpenCall[] = []
  return (frame) => {
    if (isJsonObject(frame.error) || typeof frame.error === 'string') throw new Error(errorSentence(frame))
    const choice = listOf(frame, 'choices')[0]
    if (!isJsonObject(choice)) return []
    const delta = objectOf(choice, 'delta')
    const text = textOf(delta, 'content')
    const happenings: Happening[] = text === '' ? [] : [{ kind: 'text', text }]
    for (const piece of listOf(delta, 'tool_calls')) if (isJsonObject(piece)) grow(open, piece)
    const reason = textOf(choice, 'finish_reason')
    if (reason === '') return happenings
    const calls = open.map((call): Happening => ({ kind: 'call', call: finishedCall(call) }))
    return [...happenings, ...calls, { kind: 'end', stop: stopOf(reason) }]
  }
}

/**
 * A piece belongs to the call at its index, but compatible servers leave the index out or send whole calls that all
 * claim index 0; a new id always begins a new call.
 */
function grow(open: OpenCall[], piece: JsonObject): void {
  const id = textOf(piece, 'id')
  const index = piece.index
  const known = id === '' ? undefined : open.find((call) => call.id === id)
  const atIndex = typeof index === 'number' ? open[index] : open.at(-1)
  const call = known ?? (id === '' ? atIndex : undefined) ?? opened(open, id)
  const { name, arguments: json } = objectOf(piece, 'function')
  if (typeof name === 'string') call.name ||= name
  if (typeof json === 'string') call.json += json
  else if (isJsonObject(json)) call.json = JSON.stringify(json)
}

function opened(open: OpenCall[], id: string): OpenCall {
  const call = { id: id || `call_${open.length + 1}`, name: '', json: '' }
  open.push(call)
  return call
}

function stopOf(reason: string): Stop {
  if (reason === 'length') return 'length'
  return reason === 'content_filter' ? 'refusal' : 'done'
}
