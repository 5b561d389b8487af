import { objectListField, textField, tryParseJson, tryParseJsonObject } from '../../base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { ModelProvider } from '../agent-protocol.ts'
import type { Conversation, ToolCall } from './conversation.ts'

/**
 * One API of a model provider: how requests, streamed replies and whole replies are read. The model proxy, the rehearsal
 * recorder and the harness all use it, so they cannot disagree about a reply.
 */
export interface ProviderFormat {
  provider: ModelProvider
  /** Paths of the completion endpoint in the sandbox; the first one is the usual one. */
  paths: readonly [string, ...string[]]
  /** The path of the completion endpoint below the base URL of the provider. */
  providerPath: string
  /** The field of a request that has the conversation. */
  messagesField: 'messages' | 'input'
  /** The content block that shows an image or a PDF. */
  toMediaBlock: (file: MediaFile) => JsonObject
  /** Whether a request offers the model a tool of this name. */
  hasTool(request: JsonObject, name: string): boolean
  /** What the model has said before, as it stands in a request: one message for each turn. */
  listModelMessages(request: JsonObject): ModelMessage[]
  /** The tool results in a request, oldest first. */
  listToolResults(request: JsonObject): ToolResult[]
  /** Reads a reply that was not streamed. */
  parseResponse(body: JsonObject): ModelMessage & ReplyDetails
  createStreamReader: () => StreamReader
}

/** An API that the harness can use: a conversation can be written as a request. */
export interface ConversationFormat extends ProviderFormat {
  headers: Record<string, string>
  toRequest: (conversation: Conversation) => JsonObject
}

/** `value`: the value of the result if it is JSON, else its text. */
export interface ToolResult {
  id: string
  ok: boolean
  value: Json
}

export interface MediaFile {
  name: string
  contentType: string
  base64: string
}

export interface ModelMessage {
  text: string
  calls: ToolCall[]
  /** The parts of the reply, which a later request may refer to by id. Only the Responses API has them. */
  items?: JsonObject[]
}

/** Reads the data of each server-sent event of one reply; `reply` holds what was read so far. */
export interface StreamReader {
  reply: StreamedReply
  read: (data: string) => void
}

/** What the provider says about a reply. */
export interface ReplyDetails {
  usage: TokenUsage | null
  /** The model that wrote the reply; a provider may choose a version of the requested one. */
  model: string | null
  /** Why the model stopped, in the words of the provider. */
  finishReason: string | null
}

export interface StreamedReply extends ModelMessage, ReplyDetails {
  /** Length of text, reasoning and tool input, for an estimate if the provider never reports its usage. */
  outputChars: number
  /** The usage is the provider's final count, not an intermediate one. */
  isUsageFinal: boolean
  /** Why the model stopped; null until it has. */
  stop: StopReason | null
  /** No further event follows. */
  isDone: boolean
  /** The first problem in the stream. */
  problem: StreamProblem | null
}

export type StopReason = 'done' | 'length' | 'refusal'

export type StreamProblem =
  | { kind: 'malformed event' }
  | { kind: 'unfinished call' }
  | { kind: 'provider error'; event: JsonObject }

/** Token counts of one call. `input` excludes tokens read from or written to the provider's cache. */
export interface TokenUsage {
  input: number
  cacheRead: number
  /** Written to the cache for minutes. */
  cacheWrite: number
  /** Written to the cache for an hour. */
  cacheWriteLong: number
  output: number
}

export function createStreamedReply(): StreamedReply {
  return {
    text: '',
    calls: [],
    outputChars: 0,
    usage: null,
    model: null,
    finishReason: null,
    isUsageFinal: false,
    stop: null,
    isDone: false,
    problem: null,
  }
}

/** The event as an object; null if there is nothing more to read in it. Notes errors and the end of the stream. */
export function parseStreamEvent(reply: StreamedReply, data: string): JsonObject | null {
  if (data.trim() === '[DONE]') {
    reply.isDone = true
    return null
  }
  const event = tryParseJsonObject(data)
  if (!event) reply.problem ??= { kind: 'malformed event' }
  else if (event.error !== undefined && event.error !== null) reply.problem ??= { kind: 'provider error', event }
  return event
}

/** The text of a field if it looks like a name: what a provider writes there goes into logs and traces. */
export function nameField(object: JsonObject, field: string): string | null {
  const text = textField(object, field)
  return /^[\w.:/@-]{1,128}$/.test(text) ? text : null
}

/** A tool call whose input still arrives in pieces of JSON text. */
export type PartialToolCall = { id: string; name: string; json: string }

export function toToolCall({ id, name, json }: PartialToolCall): ToolCall {
  if (json.trim() === '') return { id, name, input: {}, inputError: null }
  const input = tryParseJsonObject(json)
  return { id, name, input: input ?? {}, inputError: input ? null : 'the input of the call is not a JSON object' }
}

/** The value of a tool result whose content is a text or a list of text blocks. */
export function contentValue(content: Json | undefined): Json {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : []
  const text = typeof content === 'string' ? content : blocks.map((block) => textField(block, 'text')).join('')
  return tryParseJson(text) ?? text
}

/** The messages of the model in a request. */
export const assistantMessages = (request: JsonObject): JsonObject[] =>
  objectListField(request, 'messages').filter(({ role }) => role === 'assistant')
