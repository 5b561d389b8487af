import { isJsonObject } from '../base/json.ts'
import type { Brief } from '../contract/agent-protocol.ts'
import { type PlaneCallResult, sendToPlane, describeFailure, toGateCall } from './plane-client.ts'
import type { ToolCall } from '../contract/providers/conversation.ts'
import { textField } from '../base/json-fields.ts'
import { type GateCheck, type HarnessRun, RunFailure } from './harness-run.ts'

/** The question that a call must ask first, or null. `act` is approved by its own route, with its payload bound to it. */
export function requiredGateCheck({ gate_patterns }: Brief, call: ToolCall): GateCheck | null {
  if (call.name === 'act') return null
  const workflow = call.name === 'workflow' ? textField(call.input, 'name') : ''
  if (matchesPattern(gate_patterns, workflow)) {
    const { args } = call.input
    return { tool: workflow, input: isJsonObject(args) ? args : { args: args ?? null } }
  }
  return matchesPattern(gate_patterns, call.name) ? { tool: call.name, input: call.input } : null
}

/** Throws unless the call may run. A refusal is the end of the run. */
export async function passGate({ plane }: HarnessRun, { tool, input }: GateCheck): Promise<void> {
  const answer = await sendToPlane(plane, toGateCall(plane, tool, input))
  if (answer.status !== 200) throw gateRefusal(answer, tool)
}

/** What an answer of the gate means that is not a yes. */
export function gateRefusal(answer: PlaneCallResult, tool: string): Error {
  if (answer.status === 403) return new RunFailure(`the gate refused '${tool}': ${describeFailure(answer)}`)
  if (answer.status === 401) return new RunFailure('the run is over: its token is no longer valid')
  return new Error(`the gate gave no answer: ${describeFailure(answer)}`)
}

function matchesPattern(patterns: string[], name: string): boolean {
  const lower = name.toLowerCase()
  return patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase()))
}
