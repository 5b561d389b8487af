import { isJsonObject } from '../base/json.ts'
import type { Brief } from '../contract/agent-protocol.ts'
import type { NamedTool } from '../contract/connection-tool-names.ts'
import { type PlaneCallResult, sendToPlane, describeFailure, toGateCall } from './plane-client.ts'
import type { ToolCall } from '../contract/providers/conversation.ts'
import { textField } from '../base/json-fields.ts'
import { type GateCheck, type HarnessRun, RunFailure } from './harness-run.ts'

/**
 * The gate check that a call needs, or null. Actions and `ask_person` have their own routes, which ask a person. A read
 * of a connection is declared as harmless, so it needs a check only if the wedge requires one for exactly this read.
 */
export function requiredGateCheck(
  { gate_patterns }: Brief,
  call: ToolCall,
  target: NamedTool | null,
): GateCheck | null {
  if (call.name === 'act' || call.name === 'ask_person' || target?.class === 'ask') return null
  if (target) {
    const isNamed = gate_patterns.some((pattern) => pattern.toLowerCase() === target.capability.toLowerCase())
    return isNamed ? { tool: target.capability, input: call.input } : null
  }
  const workflow = call.name === 'workflow' ? textField(call.input, 'name') : ''
  if (matchesPattern(gate_patterns, workflow)) {
    const { args } = call.input
    return { tool: workflow, input: isJsonObject(args) ? args : { args: args ?? null } }
  }
  return matchesPattern(gate_patterns, call.name) ? { tool: call.name, input: call.input } : null
}

/** Throws unless the gate allows the call. A refusal ends the run. */
export async function passGate({ plane }: HarnessRun, { tool, input }: GateCheck): Promise<void> {
  const result = await sendToPlane(plane, toGateCall(plane, tool, input))
  if (result.status !== 200) throw gateRefusal(result, tool)
}

/** The error for a response of the gate that does not allow the call. */
export function gateRefusal(result: PlaneCallResult, tool: string): Error {
  if (result.status === 403) return new RunFailure(`the gate refused '${tool}': ${describeFailure(result)}`)
  if (result.status === 401) return new RunFailure('the run is over: its token is no longer valid')
  if (result.status === 409) return new Error(describeFailure(result))
  return new Error(`the gate did not answer: ${describeFailure(result)}`)
}

function matchesPattern(patterns: string[], name: string): boolean {
  const lower = name.toLowerCase()
  return patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase()))
}
