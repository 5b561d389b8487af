import { countField, objectField, objectListField, textField } from '../../base/json-fields.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ToolCall } from './conversation.ts'
import {
  contentValue,
  createStreamedReply,
  type MediaFile,
  type ModelMessage,
  nameField,
  parseStreamEvent,
  type ProviderFormat,
  type ReplyDetails,
  type StopReason,
  type StreamedReply,
  type StreamReader,
  type TokenUsage,
  type ToolResult,
  toToolCall,
} from './provider-format.ts'

/** The Responses API of OpenAI, which its newer libraries use by default. A conversation is a list of items. */
export const responsesFormat: ProviderFormat = {
  provider: 'openai',
  paths: ['v1/responses', 'responses'],
  providerPath: 'responses',
  messagesField: 'input',
  toMediaBlock,
  hasTool: (request, name) => objectListField(request, 'tools').some((tool) => textField(tool, 'name') === name),
  listModelMessages,
  listToolResults,
  parseResponse: (body) => {
    const items = objectListField(body, 'output')
    return { ...toModelMessage(items), items, ...parseDetails(body) }
  },
  createStreamReader,
}

function toMediaBlock({ name, contentType, base64 }: MediaFile): JsonObject {
  const url = `data:${contentType};base64,${base64}`
  return contentType === 'application/pdf'
    ? { type: 'input_file', filename: name, file_data: url }
    : { type: 'input_image', image_url: url }
}

const OUTPUT_ITEM_TYPES: readonly unknown[] = ['function_call', 'custom_tool_call', 'reasoning']

/** One turn of the model is several items: reasoning, text and calls. */
function listModelMessages(request: JsonObject): ModelMessage[] {
  const turns: JsonObject[][] = []
  let turn: JsonObject[] | null = null
  for (const item of objectListField(request, 'input')) {
    if (item.role !== 'assistant' && !OUTPUT_ITEM_TYPES.includes(item.type)) turn = null
    else if (turn) turn.push(item)
    else turns.push((turn = [item]))
  }
  return turns.map(toModelMessage)
}

function toModelMessage(items: JsonObject[]): ModelMessage {
  const texts = items
    .filter(({ role }) => role === 'assistant')
    .flatMap((item) => [
      textField(item, 'content'),
      ...objectListField(item, 'content').map((part) => textField(part, 'text')),
    ])
  return { text: texts.join(''), calls: items.flatMap(toCalls) }
}

function toCalls(item: JsonObject): ToolCall[] {
  const [id, name] = [textField(item, 'call_id'), textField(item, 'name')]
  if (item.type === 'function_call') return [toToolCall({ id, name, json: textField(item, 'arguments') })]
  // The input of a custom tool is plain text.
  if (item.type === 'custom_tool_call')
    return [{ id, name, input: { input: textField(item, 'input') }, inputError: null }]
  return []
}

function listToolResults(request: JsonObject): ToolResult[] {
  return objectListField(request, 'input')
    .filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output')
    .map((item) => ({ id: textField(item, 'call_id'), ok: true, value: contentValue(item.output) }))
}

function createStreamReader(): StreamReader {
  const reply: StreamedReply & { items: JsonObject[] } = { ...createStreamedReply(), items: [] }
  return {
    reply,
    read(data) {
      const event = parseStreamEvent(reply, data)
      if (event) readEvent(reply, event)
    },
  }
}

function readEvent(reply: StreamedReply & { items: JsonObject[] }, event: JsonObject): void {
  reply.outputChars += textField(event, 'delta').length
  const response = objectField(event, 'response')
  switch (event.type) {
    case 'response.output_text.delta':
      reply.text += textField(event, 'delta')
      return
    case 'response.output_item.done':
      reply.items.push(objectField(event, 'item'))
      reply.calls.push(...toCalls(objectField(event, 'item')))
      return
    case 'error':
      reply.problem ??= { kind: 'provider error', event: { error: event } }
      return
    case 'response.failed':
      reply.problem ??= { kind: 'provider error', event: response }
      Object.assign(reply, parseDetails(response))
      return
    case 'response.completed':
    case 'response.incomplete':
      Object.assign(reply, parseDetails(response))
      reply.isUsageFinal = reply.usage !== null
      reply.stop = toStopReason(textField(objectField(response, 'incomplete_details'), 'reason'))
      reply.isDone = true
  }
}

/** This API has no finish reason: the status is one, unless the reply is incomplete for another reason. */
const parseDetails = (response: JsonObject): ReplyDetails => ({
  usage: parseUsage(objectField(response, 'usage')),
  model: nameField(response, 'model'),
  finishReason: nameField(objectField(response, 'incomplete_details'), 'reason') ?? nameField(response, 'status'),
})

function parseUsage(usage: JsonObject): TokenUsage | null {
  const prompt = countField(usage, 'input_tokens')
  const output = countField(usage, 'output_tokens')
  if (prompt === null || output === null) return null
  const cached = Math.min(prompt, countField(objectField(usage, 'input_tokens_details'), 'cached_tokens') ?? 0)
  return { input: prompt - cached, cacheRead: cached, cacheWrite: 0, cacheWriteLong: 0, output }
}

function toStopReason(reason: string): StopReason {
  if (reason === 'max_output_tokens') return 'length'
  return reason === 'content_filter' ? 'refusal' : 'done'
}
