import { countOf, objectIn, objectOf, objectsOf, textOf } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'
import { frameReader } from './frames.ts'
import type { Usage } from './rates.ts'

/** What the proxy itself has understood of an answer; the sandbox is never asked what it used. */
export interface Heard {
  usage: Usage | null
  /** The usage is the provider's last word, not a figure on the way. */
  final: boolean
  /** Characters of the answer, for an estimate when the provider's figures never came. */
  length: number
  /** Why the model stopped, once it has. */
  stop: string | null
  /** Nothing follows. */
  done: boolean
  /** What is wrong with the stream, as a sentence about the provider. */
  broken: string | null
}

export interface Meter {
  heard: Heard
  hear: (chunk: Buffer) => void
}

/** Listens to a stream that goes past. `onFrame` is handed each frame that could be read. */
export function meter(wire: Wire, onFrame: (frame: JsonObject) => void = () => {}): Meter {
  const heard: Heard = { usage: null, final: false, length: 0, stop: null, done: false, broken: null }
  const read = wire === 'anthropic' ? hearAnthropic : hearOpenai
  const hear = frameReader((data) => {
    if (data.trim() === '[DONE]') {
      heard.done = true
      return
    }
    const frame = objectIn(data)
    if (!frame) {
      heard.broken ??= 'sent a malformed frame'
      return
    }
    if (frame.error !== undefined && frame.error !== null) heard.broken ??= `broke off${kindOf(frame)}`
    read(heard, frame)
    onFrame(frame)
  })
  return { heard, hear }
}

/** The usage of an answer that came in one piece. */
export function wholeUsage(wire: Wire, answer: JsonObject): Usage | null {
  const usage = objectOf(answer, 'usage')
  return wire === 'anthropic' ? anthropicUsage(usage, null) : openaiUsage(usage)
}

/** The provider's word for what went wrong. Only a plain word is passed on: never its sentences, which may quote. */
export function kindOf(body: JsonObject): string {
  const error = objectOf(body, 'error')
  const kind = [textOf(error, 'code'), textOf(error, 'type')].find((word) => /^[a-z][a-z_]{2,40}$/.test(word))
  return kind === undefined ? '' : ` (${kind})`
}

function hearAnthropic(heard: Heard, frame: JsonObject): void {
  const delta = objectOf(frame, 'delta')
  switch (frame.type) {
    case 'message_start':
      heard.usage = anthropicUsage(objectOf(objectOf(frame, 'message'), 'usage'), heard.usage)
      return
    case 'content_block_delta':
      for (const field of ['text', 'partial_json', 'thinking']) heard.length += textOf(delta, field).length
      return
    case 'message_delta': {
      heard.stop = textOf(delta, 'stop_reason') || heard.stop
      const usage = objectOf(frame, 'usage')
      heard.usage = anthropicUsage(usage, heard.usage)
      heard.final ||= countOf(usage, 'output_tokens') !== null
      return
    }
    case 'message_stop':
      heard.done = true
  }
}

/** The figures of the end are cumulative and need not repeat those of the start. */
function anthropicUsage(usage: JsonObject, before: Usage | null): Usage | null {
  const output = countOf(usage, 'output_tokens')
  if (output === null) return before
  const written = countOf(usage, 'cache_creation_input_tokens')
  const long = countOf(objectOf(usage, 'cache_creation'), 'ephemeral_1h_input_tokens') ?? 0
  return {
    input: countOf(usage, 'input_tokens') ?? before?.input ?? 0,
    cacheRead: countOf(usage, 'cache_read_input_tokens') ?? before?.cacheRead ?? 0,
    cacheWrite: written === null ? (before?.cacheWrite ?? 0) : Math.max(0, written - long),
    cacheWriteLong: written === null ? (before?.cacheWriteLong ?? 0) : long,
    output,
  }
}

function hearOpenai(heard: Heard, frame: JsonObject): void {
  const usage = openaiUsage(objectOf(frame, 'usage'))
  if (usage) {
    heard.usage = usage
    heard.final = true
  }
  const choice = objectsOf(frame, 'choices')[0]
  if (!choice) return
  const delta = objectOf(choice, 'delta')
  for (const field of ['content', 'reasoning_content', 'reasoning']) heard.length += textOf(delta, field).length
  for (const call of objectsOf(delta, 'tool_calls'))
    heard.length += textOf(objectOf(call, 'function'), 'arguments').length
  heard.stop = textOf(choice, 'finish_reason') || heard.stop
}

function openaiUsage(usage: JsonObject): Usage | null {
  const prompt = countOf(usage, 'prompt_tokens')
  const output = countOf(usage, 'completion_tokens')
  if (prompt === null || output === null) return null
  const cached = Math.min(prompt, countOf(objectOf(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0)
  return { input: prompt - cached, cacheRead: cached, cacheWrite: 0, cacheWriteLong: 0, output }
}
