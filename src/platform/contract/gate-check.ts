import { isJsonObject, type JsonObject } from '../base/json.ts'
import { textField } from '../base/json-fields.ts'
import type { Brief } from './agent-protocol.ts'
import type { NamedTool } from './connection-tool-names.ts'

/** A tool call that the gate must allow before it runs. */
export type GateCheck = { tool: string; input: JsonObject }

/**
 * The gate check that a call needs, or null. Actions and `ask_person` have their own routes, which ask a person. A read
 * of a connection is declared as harmless, so it needs a check only if the wedge requires one for exactly this read.
 */
export function requiredGateCheck(
  { gate_patterns }: Pick<Brief, 'gate_patterns'>,
  call: { name: string; input: JsonObject },
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

function matchesPattern(patterns: string[], name: string): boolean {
  const lower = name.toLowerCase()
  return patterns.some((pattern) => pattern !== '' && lower.includes(pattern.toLowerCase()))
}
