import { countField, objectField, objectListField, textField } from '../../base/json-fields.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
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

/** The Chat Completions API of OpenAI and of the many servers that are compatible with it. */
export const openaiFormat: ConversationFormat = {
  provider: 'openai',
  // Some clients count the version as part of the base URL.
  paths: ['v1/chat/completions', 'chat/completions'],
  providerPath: 'chat/completions',
  messagesField: 'messages',
  headers: {},
  toRequest,
  toMediaBlock,
  hasTool: (request, name) =>
    objectListField(request, 'tools').some((tool) => textField(objectField(tool, 'function'), 'name') === name),
  listModelMessages: (request) => assistantMessages(request).map(parseMessage),
  listToolResults,
  parseResponse: (body) => {
    const choice = objectListField(body, 'choices')[0] ?? {}
    return {
      ...parseMessage(objectField(choice, 'message')),
      usage: parseUsage(objectField(body, 'usage')),
      model: nameField(body, 'model'),
      finishReason: nameField(choice, 'finish_reason'),
    }
  },
  createStreamReader,
}

function toRequest(conversation: Conversation): JsonObject {
  const { tools, requiredTool, strictOutput, temperature } = conversation
  const request: JsonObject = {
    model: conversation.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: conversation.system },
      ...conversation.turns.filter(hasContent).flatMap(toMessages),
    ],
  }
  if (tools.length > 0) request.tools = tools.map(toTool)
  if (requiredTool) request.tool_choice = { type: 'function', function: { name: requiredTool } }
  if (strictOutput) {
    const json_schema = { name: 'output', strict: true, schema: closeSchema(strictOutput) }
    request.response_format = { type: 'json_schema', json_schema }
  }
  if (temperature !== null) request.temperature = temperature
  return request
}

function toTool({ name, description, schema, strict }: ToolSpec): JsonObject {
  const described = strict
    ? { name, description, parameters: closeSchema(schema), strict }
    : { name, description, parameters: schema }
  return { type: 'function', function: described }
}

function toMessages(turn: ConversationTurn): JsonObject[] {
  if (turn.by === 'user') return [{ role: 'user', content: userContent(turn) }]
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

function toMediaBlock({ name, contentType, base64 }: MediaFile): JsonObject {
  const url = `data:${contentType};base64,${base64}`
  return contentType === 'application/pdf'
    ? { type: 'file', file: { filename: name, file_data: url } }
    : { type: 'image_url', image_url: { url } }
}

function listToolResults(request: JsonObject): ToolResult[] {
  return objectListField(request, 'messages')
    .filter(({ role }) => role === 'tool')
    .map((message) => ({ id: textField(message, 'tool_call_id'), ok: true, value: contentValue(message.content) }))
}

function parseMessage(message: JsonObject): ModelMessage {
  const calls = objectListField(message, 'tool_calls').map((call) => {
    const { name, json } = parseFunction(call)
    return toToolCall({ id: textField(call, 'id'), name, json })
  })
  return { text: textField(message, 'content'), calls }
}

function createStreamReader(): StreamReader {
  const reply = createStreamedReply()
  const open: PartialToolCall[] = []
  return {
    reply,
    read(data) {
      const event = parseStreamEvent(reply, data)
      if (event) readEvent(reply, open, event)
    },
  }
}

function readEvent(reply: StreamedReply, open: PartialToolCall[], event: JsonObject): void {
  const usage = parseUsage(objectField(event, 'usage'))
  if (usage) {
    reply.usage = usage
    reply.isUsageFinal = true
  }
  reply.model ??= nameField(event, 'model')
  const choice = objectListField(event, 'choices')[0]
  if (!choice) return
  const delta = objectField(choice, 'delta')
  reply.text += textField(delta, 'content')
  for (const field of ['content', 'reasoning_content', 'reasoning']) reply.outputChars += textField(delta, field).length
  for (const piece of objectListField(delta, 'tool_calls')) reply.outputChars += addCallPiece(open, piece)
  const reason = textField(choice, 'finish_reason')
  if (reason === '') return
  reply.stop = toStopReason(reason)
  reply.finishReason = nameField(choice, 'finish_reason')
  reply.calls = open.map(toToolCall)
}

/**
 * Adds a piece to the call that it belongs to and returns the length of its input. A piece names its call by index, but
 * compatible servers leave the index out or send whole calls that all carry index 0; a new id always begins a new call.
 */
function addCallPiece(open: PartialToolCall[], piece: JsonObject): number {
  const id = textField(piece, 'id')
  const index = piece.index
  const known = id === '' ? undefined : open.find((call) => call.id === id)
  const atIndex = typeof index === 'number' ? open[index] : open.at(-1)
  const call = known ?? (id === '' ? atIndex : undefined) ?? startCall(open, id)
  const { name, json } = parseFunction(piece)
  call.name ||= name
  call.json += json
  return json.length
}

/** Some compatible servers send the arguments as an object instead of as JSON text. */
function parseFunction(piece: JsonObject): { name: string; json: string } {
  const described = objectField(piece, 'function')
  const input = described.arguments
  return {
    name: textField(described, 'name'),
    json: isJsonObject(input) ? JSON.stringify(input) : textField(described, 'arguments'),
  }
}

/** Some local servers send no ids. Each call still needs its own, because its result and the log refer to it. */
function startCall(open: PartialToolCall[], id: string): PartialToolCall {
  const call = { id: id || `call_${crypto.randomUUID()}`, name: '', json: '' }
  open.push(call)
  return call
}

function parseUsage(usage: JsonObject): TokenUsage | null {
  const prompt = countField(usage, 'prompt_tokens')
  const output = countField(usage, 'completion_tokens')
  if (prompt === null || output === null) return null
  const cached = Math.min(prompt, countField(objectField(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0)
  return { input: prompt - cached, cacheRead: cached, cacheWrite: 0, cacheWriteLong: 0, output }
}

function toStopReason(reason: string): StopReason {
  if (reason === 'length') return 'length'
  return reason === 'content_filter' ? 'refusal' : 'done'
}
