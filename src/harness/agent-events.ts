import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { AgentEventType, AgentLine } from '../contract/agent-protocol.ts'
import type { HarnessRun } from './harness-run.ts'

const MAX_STRING_CHARS = 4096
/** A value with more JSON text than this is replaced by the beginning of that text. */
const MAX_VALUE_CHARS = 16_384

type Emit = (line: AgentLine) => void

/** An earlier process of the run may have begun the step. */
export function emitStepStarted(
  { emit, logged }: Pick<HarnessRun, 'emit' | 'logged'>,
  step: number,
  label: string,
): void {
  if (step <= logged.step) return
  // A model may use the ids of its calls again in another step.
  logged.called.clear()
  logged.returned.clear()
  emitEvent(emit, 'step.started', { step, label })
}

export function emitProgress(emit: Emit, text: string): void {
  emitEvent(emit, 'progress', { ...truncateValue('text', text) })
}

export function emitTokenDelta(emit: Emit, text: string): void {
  emitEvent(emit, 'token.delta', { text })
}

export function emitToolCalled(emit: Emit, call: { id: string; name: string }, input: Json): void {
  emitEvent(emit, 'tool.called', { call_id: call.id, tool: call.name, ...truncateValue('input', input) })
}

export function emitToolResult(emit: Emit, call: { id: string; name: string }, ok: boolean, value: Json): void {
  emitEvent(emit, 'tool.result', {
    call_id: call.id,
    tool: call.name,
    ok,
    ...truncateValue(ok ? 'output' : 'error', value),
  })
}

function emitEvent(emit: Emit, type: AgentEventType, data: JsonObject): void {
  emit({ event: type, data })
}

/** The value under its name with long strings truncated; `truncated` is set if something was removed. */
export function truncateValue(name: string, value: Json): JsonObject {
  const state = { isTruncated: false }
  const short = truncateStrings(value, state)
  const text = JSON.stringify(short)
  const small = text.length > MAX_VALUE_CHARS ? truncateStrings(text, state) : short
  return state.isTruncated ? { [name]: small, truncated: true } : { [name]: small }
}

function truncateStrings(value: Json, state: { isTruncated: boolean }): Json {
  if (typeof value === 'string') {
    if (value.length <= MAX_STRING_CHARS) return value
    state.isTruncated = true
    return truncateText(value, MAX_STRING_CHARS)
  }
  if (Array.isArray(value)) return value.map((item) => truncateStrings(item, state))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, truncateStrings(item, state)]))
}

/** Does not cut between the two halves of a surrogate pair, because one half is not valid text. */
export function truncateText(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
