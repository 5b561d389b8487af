import { isJsonObject, type JsonObject } from '../base/json.ts'
import type { Brief } from '../base/protocol.ts'
import { callGate, failureOf } from './call.ts'
import { RunFailed, type ToolCall } from './conversation.ts'
import { textOf } from '../base/fields.ts'
import type { Run } from './run.ts'

/** The question that a call must ask first, or null. `act` is approved by its own route, with its payload bound to it. */
export type GateQuestion = { tool: string; input: JsonObject }

export function gateQuestion({ gate_patterns }: Brief, call: ToolCall): GateQuestion | null {
  if (call.name === 'act') return null
  const workflow = call.name === 'workflow' ? textOf(call.input, 'name') : ''
  if (matches(gate_patterns, workflow)) {
    const { args } = call.input
    return { tool: workflow, input: isJsonObject(args) ? args : { args: args ?? null } }
  }
  return matches(gate_patterns, call.name) ? { tool: call.name, input: call.input } : null
}

/** Null lets the call pass; a sentence says why it may not run now. A refusal is the end of the run. */
export async function passGate(run: Run, question: GateQuestion): Promise<string | null> {
  const answer = await callGate(run.plane, question.tool, question.input)
  if (answer.status === 200) return null
  if (answer.status === 403) throw new RunFailed(`the gate refused '${question.tool}': ${failureOf(answer)}`)
  if (answer.status === 401) throw new RunFailed('the run is over: its token is no longer valid')
  return `the gate gave no answer: ${failureOf(answer)}`
}

function matches(patterns: string[], name: string): boolean {
  const lower = name.toLowerCase()
  return patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase()))
}
