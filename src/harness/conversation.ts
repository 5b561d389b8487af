import type { Json, JsonObject } from '../base/json.ts'

/** One conversation with a model, in no provider's words: the wires translate it. */
export interface Conversation {
  model: string
  system: string
  turns: ConversationTurn[]
  tools: ToolSpec[]
  /** The tool that the model must call now; null leaves the choice to it. */
  requiredTool: string | null
  /** A schema that the provider itself shall enforce on the text of the answer. */
  strictOutput: JsonObject | null
  temperature: number | null
}

export type ConversationTurn =
  | { by: 'user'; text: string }
  | { by: 'model'; text: string; calls: ToolCall[] }
  | { by: 'tools'; results: ToolCallResult[] }

export type ToolSpec = { name: string; description: string; schema: JsonObject; strict: boolean }
/** `broken` says why the input could not be read; the call is then answered with that and never executed. */
export type ToolCall = { id: string; name: string; input: JsonObject; inputError: string | null }
export type ToolCallResult = { id: string; ok: boolean; content: string }

export type StopReason = 'done' | 'length' | 'refusal'
export type ModelStreamEvent =
  | { kind: 'text'; text: string }
  | { kind: 'call'; call: ToolCall }
  | { kind: 'end'; stop: StopReason }

/** What a provider's wire must know: where to post, what to post, and how to read one frame of the answer. */
export interface ProviderFormat {
  path: string
  headers: Record<string, string>
  body(conversation: Conversation): JsonObject
  /** A reader has the memory of one answer. It throws an Error with a sentence on a frame that reports a failure. */
  reader(): (frame: JsonObject) => ModelStreamEvent[]
}

/** Providers refuse a message without content, so a turn in which the model said nothing is not repeated to them. */
export function hasContent(turn: ConversationTurn): boolean {
  return turn.by !== 'model' || turn.calls.length > 0 || turn.text.trim() !== ''
}

/** Ends the run: its message becomes the run's error line. */
export class RunFailure extends Error {}

/**
 * Both providers refuse a strict schema whose objects are open, and the contract's validator ignores
 * `additionalProperties`: closing the objects changes nothing for us and makes strict output work.
 */
export function closeSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closeSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const fields = Object.entries(schema).map(([key, value]) => [key, key === 'enum' ? value : closeSchema(value)])
  const copy: JsonObject = Object.fromEntries(fields)
  const open = copy.type === 'object' && !('additionalProperties' in copy)
  return open ? { ...copy, additionalProperties: false } : copy
}
