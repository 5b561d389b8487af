import { isJsonObject } from '../base/json.ts'
import type { Brief } from '../base/protocol.ts'
import { type Answer, ask, failureOf, gateAsk } from './call.ts'
import { RunFailed, type ToolCall } from './conversation.ts'
import { textOf } from '../base/fields.ts'
import type { GateQuestion, Run } from './run.ts'

/** The question that a call must ask first, or null. `act` is approved by its own route, with its payload bound to it. */
export function gateQuestion({ gate_patterns }: Brief, call: ToolCall): GateQuestion | null {
  if (call.name === 'act') return null
  const workflow = call.name === 'workflow' ? textOf(call.input, 'name') : ''
  if (matches(gate_patterns, workflow)) {
    const { args } = call.input
    return { tool: workflow, input: isJsonObject(args) ? args : { args: args ?? null } }
  }
  return matches(gate_patterns, call.name) ? { tool: call.name, input: call.input } : null
}

/** Throws unless the call may run. A refusal is the end of the run. */
export async function passGate({ plane }: Run, { tool, input }: GateQuestion): Promise<void> {
  const answer = await ask(plane, gateAsk(plane, tool, input))
  if (answer.status !== 200) throw stopped(answer, tool)
}

/** What an answer of the gate means that is not a yes. */
export function stopped(answer: Answer, tool: string): Error {
  if (answer.status === 403) return new RunFailed(`the gate refused '${tool}': ${failureOf(answer)}`)
  if (answer.status === 401) return new RunFailed('the run is over: its token is no longer valid')
  return new Error(`the gate gave no answer: ${failureOf(answer)}`)
}

function matches(patterns: string[], name: string): boolean {
  const lower = name.toLowerCase()
  return patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase()))
}
