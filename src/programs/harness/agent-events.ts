import type { Json, JsonObject } from '../../platform/base/json.ts'
import type { AgentEventType, AgentLine } from '../../platform/contract/agent-protocol.ts'
import { truncateValue } from '../../platform/contract/truncate-value.ts'
import type { HarnessRun } from './harness-run.ts'

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
  emitEvent(emit, 'progress', { ...truncatedField('text', text) })
}

export function emitTokenDelta(emit: Emit, text: string): void {
  emitEvent(emit, 'token.delta', { text })
}

export function emitToolCalled(emit: Emit, call: { id: string; name: string }, input: Json): void {
  emitEvent(emit, 'tool.called', { call_id: call.id, tool: call.name, ...truncatedField('input', input) })
}

export function emitToolResult(emit: Emit, call: { id: string; name: string }, ok: boolean, value: Json): void {
  emitEvent(emit, 'tool.result', {
    call_id: call.id,
    tool: call.name,
    ok,
    ...truncatedField(ok ? 'output' : 'error', value),
  })
}

function emitEvent(emit: Emit, type: AgentEventType, data: JsonObject): void {
  emit({ event: type, data })
}

/** The value under its name; `truncated` is set if something was removed. */
function truncatedField(name: string, value: Json): JsonObject {
  const short = truncateValue(value)
  return short.isTruncated ? { [name]: short.value, truncated: true } : { [name]: short.value }
}
