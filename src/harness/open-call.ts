import { tryParseJsonObject } from '../base/json-fields.ts'
import type { ToolCall } from './conversation.ts'

/** A tool call whose input is still arriving, piece by piece. */
export type PartialToolCall = { id: string; name: string; json: string }

export function toToolCall({ id, name, json }: PartialToolCall): ToolCall {
  if (json.trim() === '') return { id, name, input: {}, inputError: null }
  const input = tryParseJsonObject(json)
  return { id, name, input: input ?? {}, inputError: input ? null : 'the input of the call is not a JSON object' }
}
