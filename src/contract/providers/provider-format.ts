import { tryParseJson, tryParseJsonObject, textField } from '../../base/json-fields.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Conversation, ToolCall } from './conversation.ts'

/**
 * The API of one model provider: how a request is written, and how requests, streamed replies and whole replies are
 * read. The model proxy, the rehearsal recorder and the harness all use it, so they cannot disagree about a reply.
 */
export interface ProviderFormat {
  /** Paths of the completion endpoint below the provider's base URL; the first one is the usual one. */
  paths: readonly [string, ...string[]]
  headers: Record<string, string>
  toRequest: (conversation: Conversation) => JsonObject
  /** The content block that shows an image or a PDF. */
  toMediaBlock: (file: MediaFile) => JsonObject
  /** Whether a request offers the model a tool of this name. */
  hasTool(request: JsonObject, name: string): boolean
  /** The newest tool result in the messages of a request: its value if it is JSON, else its text; null without one. */
  lastToolResult(messages: JsonObject[]): Json
  /** Reads a message of the model, as it stands in a request. */
  parseMessage: (message: JsonObject) => ModelMessage
  /** Reads a reply that was not streamed. */
  parseResponse(body: JsonObject): ModelMessage & { usage: TokenUsage | null }
  createStreamReader: () => StreamReader
}

export interface MediaFile {
  name: string
  contentType: string
  base64: string
}

export interface ModelMessage {
  text: string
  calls: ToolCall[]
}

/** Reads the data of each server-sent event of one reply; `reply` holds what was read so far. */
export interface StreamReader {
  reply: StreamedReply
  read: (data: string) => void
}

export interface StreamedReply extends ModelMessage {
  /** Length of text, reasoning and tool input, for an estimate if the provider never reports its usage. */
  outputChars: number
  usage: TokenUsage | null
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
