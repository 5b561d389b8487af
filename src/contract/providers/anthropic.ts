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
import { errorMessageIn, objectField, textField } from '../../base/json-fields.ts'
import { toToolCall, type PartialToolCall } from '../../harness/open-call.ts'

/** The Messages wire needs a ceiling on the answer; the proxy may lower it to what the task can still pay. */
const MAX_ANSWER_TOKENS = 8192

export const anthropicFormat: ProviderFormat = {
  path: '/v1/internal/llm/anthropic/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body,
  reader,
}

function body(conversation: Conversation): JsonObject {
  const { tools, requiredTool: must, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    max_tokens: MAX_ANSWER_TOKENS,
    stream: true,
    system: conversation.system,
    messages: conversation.turns.filter(hasContent).map(message),
  }
  if (tools.length > 0) request.tools = tools.map(tool)
  if (must) request.tool_choice = { type: 'tool', name: must }
  if (strictOutput) request.output_config = { format: { type: 'json_schema', schema: closeSchema(strictOutput) } }
  if (temperature !== null) request.temperature = temperature
  return request
}

function tool({ name, description, schema, strict }: ToolSpec): JsonObject {
  return strict
    ? { name, description, input_schema: closeSchema(schema), strict }
    : { name, description, input_schema: schema }
}

function message(turn: ConversationTurn): JsonObject {
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

function reader(): (frame: JsonObject) => ModelStreamEvent[] {
  const open = new Map<unknown, PartialToolCall>()
  let stop: StopReason = 'done'
  return (frame) => {
    switch (frame.type) {
      case 'content_block_start':
        return startBlock(open, frame)
      case 'content_block_delta':
        return growBlock(open, frame)
      case 'content_block_stop':
        return stopBlock(open, frame)
      case 'message_delta':
        stop = stopOf(textField(objectField(frame, 'delta'), 'stop_reason'))
        return []
      case 'message_stop':
        if (open.size > 0) throw new Error('the answer ended inside a tool call')
        return [{ kind: 'end', stop }]
      default:
        if (isJsonObject(frame.error) || typeof frame.error === 'string') throw new Error(errorMessageIn(frame))
        return []
    }
  }
}

function startBlock(open: Map<unknown, PartialToolCall>, frame: JsonObject): ModelStreamEvent[] {
  const block = objectField(frame, 'content_block')
  if (block.type === 'tool_use') {
    const given = objectField(block, 'input')
    const json = Object.keys(given).length > 0 ? JSON.stringify(given) : ''
    open.set(frame.index, { id: textField(block, 'id'), name: textField(block, 'name'), json })
  }
  return textHappening(textField(block, 'text'))
}

function growBlock(open: Map<unknown, PartialToolCall>, frame: JsonObject): ModelStreamEvent[] {
  const delta = objectField(frame, 'delta')
  const call = open.get(frame.index)
  if (call) call.json += textField(delta, 'partial_json')
  return delta.type === 'text_delta' ? textHappening(textField(delta, 'text')) : []
}

function stopBlock(open: Map<unknown, PartialToolCall>, frame: JsonObject): ModelStreamEvent[] {
  const call = open.get(frame.index)
  open.delete(frame.index)
  return call ? [{ kind: 'call', call: toToolCall(call) }] : []
}

function textHappening(text: string): ModelStreamEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }]
}

function stopOf(reason: string): StopReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  return reason === 'refusal' ? 'refusal' : 'done'
}
