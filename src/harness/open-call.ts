import { isJsonObject } from '../base/json.ts'
import type { ToolCall } from './conversation.ts'
import { parseJson } from '../base/fields.ts'

/** A tool call whose input is still arriving, piece by piece. */
export type OpenCall = { id: string; name: string; json: string }

export function finishedCall({ id, name, json }: OpenCall): ToolCall {
  if (json.trim() === '') return { id, name, input: {}, broken: null }
  try {
    const input = parseJson(json)
    if (isJsonObject(input)) return { id, name, input, broken: null }
  } catch {
    // The sentence below says it for both cases.
  }
  return { id, name, input: {}, broken: 'the input of the call is not a JSON object' }
}
