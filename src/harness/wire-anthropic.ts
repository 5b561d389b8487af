import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { Conversation, Happening, Stop, ToolSpec, Turn, WireFormat } from './conversation.ts'
import { closed, saysSomething } from './conversation.ts'
import { errorSentence, objectOf, textOf } from '../base/fields.ts'
import { finishedCall, type OpenCall } from './open-call.ts'

/** The Messages wire needs a ceiling on the answer; the proxy may lower it to what the task can still pay. */
const MAX_ANSWER_TOKENS = 8192

export const anthropicWire: WireFormat = {
  path: '/v1/internal/llm/anthropic/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body,
  reader,
}

function body(conversation: Conversation): JsonObject {
  const { tools, must, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    max_tokens: MAX_ANSWER_TOKENS,
    stream: true,
    system: conversation.system,
    messages: conversation.turns.filter(saysSomething).map(message),
  }
  if (tools.length > 0) request.tools = tools.map(tool)
  if (must) request.tool_choice = { type: 'tool', name: must }
  if (strictOutput) request.output_config = { format: { type: 'json_schema', schema: closed(strictOutput) } }
  if (temperature !== null) request.temperature = temperature
  return request
}

function tool({ name, description, schema, strict }: ToolSpec): JsonObject {
  return strict
    ? { name, description, input_schema: closed(schema), strict }
    : { name, description, input_schema: schema }
}

function message(turn: Turn): JsonObject {
  if (turn.by === 'user') return { role: 'user', content: turn.text }
  if (turn.by === 'tools') {
    const content = turn.results.map((result) => ({
      type: 'tool_result',
      tool_use_id: result.id,
      content: result.content,
      is_error: !result.ok,
    }))
    return { role: 'user', content }
  }
  // A blank text block is refused, so a turn that is only calls has none.
  const text = turn.text.trim() === '' ? [] : [{ type: 'text', text: turn.text }]
  const calls = turn.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
  return { role: 'assistant', content: [...text, ...calls] }
}

function reader(): (frame: JsonObject) => Happening[] {
  const open = new Map<unknown, OpenCall>()
  let stop: Stop = 'done'
  return (frame) => {
    switch (frame.type) {
      case 'content_block_start':
        return startBlock(open, frame)
      case 'content_block_delta':
        return growBlock(open, frame)
      case 'content_block_stop':
        return stopBlock(open, frame)
      case 'message_delta':
        stop = stopOf(textOf(objectOf(frame, 'delta'), 'stop_reason'))
        return []
      case 'message_stop':
        if (open.size > 0) throw new Error('the answer ended inside a tool call')
        return [{ kind: 'end', stop }]
      default:
        if (isJsonObject(frame.error) || typeof frame.error === 'string') throw new Error(errorSentence(frame))
        return []
    }
  }
}

function startBlock(open: Map<unknown, OpenCall>, frame: JsonObject): Happening[] {
  const block = objectOf(frame, 'content_block')
  if (block.type === 'tool_use') {
    const given = objectOf(block, 'input')
    const json = Object.keys(given).length > 0 ? JSON.stringify(given) : ''
    open.set(frame.index, { id: textOf(block, 'id'), name: textOf(block, 'name'), json })
  }
  return textHappening(textOf(block, 'text'))
}

function growBlock(open: Map<unknown, OpenCall>, frame: JsonObject): Happening[] {
  const delta = objectOf(frame, 'delta')
  const call = open.get(frame.index)
  if (call) call.json += textOf(delta, 'partial_json')
  return delta.type === 'text_delta' ? textHappening(textOf(delta, 'text')) : []
}

function stopBlock(open: Map<unknown, OpenCall>, frame: JsonObject): Happening[] {
  const call = open.get(frame.index)
  open.delete(frame.index)
  return call ? [{ kind: 'call', call: finishedCall(call) }] : []
}

function textHappening(text: string): Happening[] {
  return text === '' ? [] : [{ kind: 'text', text }]
}

function stopOf(reason: string): Stop {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  return reason === 'refusal' ? 'refusal' : 'done'
}
