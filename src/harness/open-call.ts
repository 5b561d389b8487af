import { objectIn } from '../base/fields.ts'
import type { ToolCall } from './conversation.ts'

/** A tool call whose input is still arriving, piece by piece. */
export type OpenCall = { id: string; name: string; json: string }

export function finishedCall({ id, name, json }: OpenCall): ToolCall {
  if (json.trim() === '') return { id, name, input: {}, broken: null }
  const input = objectIn(json)
  return { id, name, input: input ?? {}, broken: input ? null : 'the input of the call is not a JSON object' }
}
