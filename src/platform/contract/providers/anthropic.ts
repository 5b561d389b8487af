import { countField, objectField, objectListField, textField } from '../../base/json-fields.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  closeSchema,
  type Conversation,
  type ConversationTurn,
  hasContent,
  type ToolSpec,
  userContent,
} from './conversation.ts'
import {
  assistantMessages,
  contentValue,
  type ConversationFormat,
  createStreamedReply,
  type MediaFile,
  type ModelMessage,
  nameField,
  parseStreamEvent,
  type PartialToolCall,
  type StopReason,
  type StreamedReply,
  type StreamReader,
  type TokenUsage,
  type ToolResult,
  toToolCall,
} from './provider-format.ts'

/** The Messages API of Anthropic. */
export const anthropicFormat: ConversationFormat = {
  provider: 'anthropic',
  // Some clients count the version as part of the base URL.
  paths: ['v1/messages', 'messages'],
  providerPath: 'v1/messages',
  messagesField: 'messages',
  headers: { 'anthropic-version': '2023-06-01' },
  toRequest,
  toMediaBlock,
  hasTool: (request, name) => objectListField(request, 'tools').some((tool) => textField(tool, 'name') === name),
  listModelMessages: (request) => assistantMessages(request).map(parseMessage),
  listToolResults,
  parseResponse: (body) => ({
    ...parseMessage(body),
    usage: parseUsage(objectField(body, 'usage'), null),
    model: nameField(body, 'model'),
    finishReason: nameField(body, 'stop_reason'),
  }),
  createStreamReader,
}

/** The proxy adds the limit of the answer, which this API requires. */
function toRequest(conversation: Conversation): JsonObject {
  const { tools, requiredTool, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    stream: true,
    system: conversation.system,
    messages: conversation.turns.filter(hasContent).map(toMessage),
  }
  if (tools.length > 0) request.tools = tools.map(toTool)
  if (requiredTool) request.tool_choice = { type: 'tool', name: requiredTool }
  if (strictOutput) request.output_config = { format: { type: 'json_schema', schema: closeSchema(strictOutput) } }
  if (temperature !== null) request.temperature = temperature
  return request
}

function toTool({ name, description, schema, strict }: ToolSpec): JsonObject {
  return strict
    ? { name, description, input_schema: closeSchema(schema), strict }
    : { name, description, input_schema: schema }
}

function toMessage(turn: ConversationTurn): JsonObject {
  if (turn.by === 'user') return { role: 'user', content: userContent(turn) }
  if (turn.by === 'tools') {
    const content = turn.results.map((result) => ({
      type: 'tool_result',
      tool_use_id: result.id,
      content: result.content,
      is_error: !result.ok,
    }))
    return { role: 'user', content }
  }
  // The API refuses a blank text block.
  const text = turn.text.trim() === '' ? [] : [{ type: 'text', text: turn.text }]
  const calls = turn.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
  return { role: 'assistant', content: [...text, ...calls] }
}

function toMediaBlock({ name, contentType, base64 }: MediaFile): JsonObject {
  const source = { type: 'base64', media_type: contentType, data: base64 }
  return contentType === 'application/pdf' ? { type: 'document', title: name, source } : { type: 'image', source }
}

function listToolResults(request: JsonObject): ToolResult[] {
  return objectListField(request, 'messages')
    .flatMap((message) => objectListField(message, 'content'))
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({
      id: textField(block, 'tool_use_id'),
      ok: block.is_error !== true,
      value: contentValue(block.content),
    }))
}

function parseMessage(message: JsonObject): ModelMessage {
  const blocks = objectListField(message, 'content')
  const texts = blocks.filter(({ type }) => type === 'text').map((block) => textField(block, 'text'))
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map((block) => ({
      id: textField(block, 'id'),
      name: textField(block, 'name'),
      input: objectField(block, 'input'),
      inputError: null,
    }))
  return { text: textField(message, 'content') || texts.join(''), calls }
}

function createStreamReader(): StreamReader {
  const reply = createStreamedReply()
  const open = new Map<unknown, PartialToolCall>()
  return {
    reply,
    read(data) {
      const event = parseStreamEvent(reply, data)
      if (event) readEvent(reply, open, event)
    },
  }
}

function readEvent(reply: StreamedReply, open: Map<unknown, PartialToolCall>, event: JsonObject): void {
  switch (event.type) {
    case 'message_start': {
      const message = objectField(event, 'message')
      reply.usage = parseUsage(objectField(message, 'usage'), reply.usage)
      reply.model = nameField(message, 'model')
      return
    }
    case 'content_block_start':
      return startBlock(reply, open, event)
    case 'content_block_delta':
      return extendBlock(reply, open, event)
    case 'content_block_stop':
      return endBlock(reply, open, event)
    case 'message_delta':
      return readMessageDelta(reply, event)
    case 'message_stop':
      reply.isDone = true
      reply.stop ??= 'done'
      if (open.size > 0) reply.problem ??= { kind: 'unfinished call' }
  }
}

function startBlock(reply: StreamedReply, open: Map<unknown, PartialToolCall>, event: JsonObject): void {
  const block = objectField(event, 'content_block')
  reply.text += textField(block, 'text')
  if (block.type !== 'tool_use') return
  const input = objectField(block, 'input')
  const json = Object.keys(input).length > 0 ? JSON.stringify(input) : ''
  open.set(event.index, { id: textField(block, 'id'), name: textField(block, 'name'), json })
}

function extendBlock(reply: StreamedReply, open: Map<unknown, PartialToolCall>, event: JsonObject): void {
  const delta = objectField(event, 'delta')
  for (const field of ['text', 'partial_json', 'thinking']) reply.outputChars += textField(delta, field).length
  const call = open.get(event.index)
  if (call) call.json += textField(delta, 'partial_json')
  if (delta.type === 'text_delta') reply.text += textField(delta, 'text')
}

function endBlock(reply: StreamedReply, open: Map<unknown, PartialToolCall>, event: JsonObject): void {
  const call = open.get(event.index)
  open.delete(event.index)
  if (call) reply.calls.push(toToolCall(call))
}

function readMessageDelta(reply: StreamedReply, event: JsonObject): void {
  const delta = objectField(event, 'delta')
  const reason = textField(delta, 'stop_reason')
  if (reason !== '') reply.stop = toStopReason(reason)
  reply.finishReason = nameField(delta, 'stop_reason') ?? reply.finishReason
  const usage = objectField(event, 'usage')
  reply.usage = parseUsage(usage, reply.usage)
  reply.isUsageFinal ||= countField(usage, 'output_tokens') !== null
}

/** The counts at the end are cumulative and need not repeat those of the start. */
function parseUsage(usage: JsonObject, before: TokenUsage | null): TokenUsage | null {
  const output = countField(usage, 'output_tokens')
  if (output === null) return before
  const written = countField(usage, 'cache_creation_input_tokens')
  const long = countField(objectField(usage, 'cache_creation'), 'ephemeral_1h_input_tokens') ?? 0
  return {
    input: countField(usage, 'input_tokens') ?? before?.input ?? 0,
    cacheRead: countField(usage, 'cache_read_input_tokens') ?? before?.cacheRead ?? 0,
    cacheWrite: written === null ? (before?.cacheWrite ?? 0) : Math.max(0, written - long),
    cacheWriteLong: written === null ? (before?.cacheWriteLong ?? 0) : long,
    output,
  }
}

function toStopReason(reason: string): StopReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  return reason === 'refusal' ? 'refusal' : 'done'
}
