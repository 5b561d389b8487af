import { StringDecoder } from 'node:string_decoder'
import { createEventStreamParser } from '../base/event-stream.ts'
import { countField, tryParseJsonObject, objectField, objectListField, textField } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { TokenUsage } from './model-prices.ts'

/** What the proxy itself has understood of an answer; the sandbox is never asked what it used. */
export interface MeteredResponse {
  usage: TokenUsage | null
  /** The usage is the provider's last word, not a figure on the way. */
  isUsageFinal: boolean
  /** Characters of the answer, for an estimate when the provider's figures never came. */
  answerChars: number
  /** Why the model stopped, once it has. */
  stopReason: string | null
  /** Nothing follows. */
  isDone: boolean
  /** What is wrong with the stream, as a sentence about the provider. */
  failure: string | null
}

export interface UsageMeter {
  metered: MeteredResponse
  read: (chunk: Buffer) => void
}

/** Listens to a stream that goes past. `onFrame` is handed each frame that could be read. */
export function createUsageMeter(wire: ModelProvider, onFrame: (frame: JsonObject) => void = () => {}): UsageMeter {
  const heard: MeteredResponse = {
    usage: null,
    isUsageFinal: false,
    answerChars: 0,
    stopReason: null,
    isDone: false,
    failure: null,
  }
  const read = wire === 'anthropic' ? meterAnthropicEvent : meterOpenaiEvent
  const decoder = new StringDecoder('utf8')
  const parse = createEventStreamParser((data) => {
    if (data.trim() === '[DONE]') {
      heard.isDone = true
      return
    }
    const frame = tryParseJsonObject(data)
    if (!frame) {
      heard.failure ??= 'sent a malformed frame'
      return
    }
    if (frame.error !== undefined && frame.error !== null) heard.failure ??= `broke off${providerErrorKind(frame)}`
    read(heard, frame)
    onFrame(frame)
  })
  return { metered: heard, read: (chunk) => parse(decoder.write(chunk)) }
}

/** The usage of an answer that came in one piece. */
export function usageOfResponse(wire: ModelProvider, answer: JsonObject): TokenUsage | null {
  const usage = objectField(answer, 'usage')
  return wire === 'anthropic' ? anthropicUsage(usage, null) : openaiUsage(usage)
}

/** The provider's word for what went wrong. Only a plain word is passed on: never its sentences, which may quote. */
export function providerErrorKind(body: JsonObject): string {
  const error = objectField(body, 'error')
  const kind = [textField(error, 'code'), textField(error, 'type')].find((word) => /^[a-z][a-z_]{2,40}$/.test(word))
  return kind === undefined ? '' : ` (${kind})`
}

function meterAnthropicEvent(heard: MeteredResponse, frame: JsonObject): void {
  const delta = objectField(frame, 'delta')
  switch (frame.type) {
    case 'message_start':
      heard.usage = anthropicUsage(objectField(objectField(frame, 'message'), 'usage'), heard.usage)
      return
    case 'content_block_delta':
      for (const field of ['text', 'partial_json', 'thinking']) heard.answerChars += textField(delta, field).length
      return
    case 'message_delta': {
      heard.stopReason = textField(delta, 'stop_reason') || heard.stopReason
      const usage = objectField(frame, 'usage')
      heard.usage = anthropicUsage(usage, heard.usage)
      heard.isUsageFinal ||= countField(usage, 'output_tokens') !== null
      return
    }
    case 'message_stop':
      heard.isDone = true
  }
}

/** The figures of the end are cumulative and need not repeat those of the start. */
function anthropicUsage(usage: JsonObject, before: TokenUsage | null): TokenUsage | null {
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

function meterOpenaiEvent(heard: MeteredResponse, frame: JsonObject): void {
  const usage = openaiUsage(objectField(frame, 'usage'))
  if (usage) {
    heard.usage = usage
    heard.isUsageFinal = true
  }
  const choice = objectListField(frame, 'choices')[0]
  if (!choice) return
  const delta = objectField(choice, 'delta')
  for (const field of ['content', 'reasoning_content', 'reasoning']) heard.answerChars += textField(delta, field).length
  for (const call of objectListField(delta, 'tool_calls'))
    heard.answerChars += textField(objectField(call, 'function'), 'arguments').length
  heard.stopReason = textField(choice, 'finish_reason') || heard.stopReason
}

function openaiUsage(usage: JsonObject): TokenUsage | null {
  const prompt = countField(usage, 'prompt_tokens')
  const output = countField(usage, 'completion_tokens')
  if (prompt === null || output === null) return null
  const cached = Math.min(prompt, countField(objectField(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0)
  return { input: prompt - cached, cacheRead: cached, cacheWrite: 0, cacheWriteLong: 0, output }
}
