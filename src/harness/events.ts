import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { AgentEvent, AgentLine } from '../base/protocol.ts'

const LONGEST_STRING = 4096
/** Many short strings add up too: beyond this the value is shown as the beginning of its JSON. */
const LONGEST_VALUE = 16_384

type Emit = (line: AgentLine) => void

export function startStep(emit: Emit, step: number, label: string): void {
  event(emit, 'step.started', { step, label })
}

export function sayProgress(emit: Emit, text: string): void {
  event(emit, 'progress', { ...shown('text', text) })
}

export function streamText(emit: Emit, text: string): void {
  event(emit, 'token.delta', { text })
}

export function toolCalled(emit: Emit, call: { id: string; name: string }, input: Json): void {
  event(emit, 'tool.called', { call_id: call.id, tool: call.name, ...shown('input', input) })
}

export function toolResult(emit: Emit, call: { id: string; name: string }, ok: boolean, said: Json): void {
  event(emit, 'tool.result', { call_id: call.id, tool: call.name, ok, ...shown(ok ? 'output' : 'error', said) })
}

function event(emit: Emit, type: AgentEvent, data: JsonObject): void {
  emit({ event: type, data })
}

/** The value under its name, with long strings cut; `truncated` says that something is missing. */
export function shown(name: string, value: Json): JsonObject {
  const cutter = { cut: false }
  const short = cutStrings(value, cutter)
  const text = JSON.stringify(short)
  const small = text.length > LONGEST_VALUE ? cutStrings(text, cutter) : short
  return cutter.cut ? { [name]: small, truncated: true } : { [name]: small }
}

function cutStrings(value: Json, cutter: { cut: boolean }): Json {
  if (typeof value === 'string') {
    if (value.length <= LONGEST_STRING) return value
    cutter.cut = true
    return cutText(value, LONGEST_STRING)
  }
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, cutter))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, cutter)]))
}

/** Never between the two halves of a character beyond the basic plane: half of one is not valid text. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
