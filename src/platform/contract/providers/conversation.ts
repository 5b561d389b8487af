import type { Json, JsonObject } from '../../base/json.ts'

/** A conversation with a model, independent of the provider. */
export interface Conversation {
  model: string
  system: string
  turns: ConversationTurn[]
  tools: ToolSpec[]
  /** The tool that the model must call now; null: the model chooses. */
  requiredTool: string | null
  /** A schema that the provider enforces on the text of the reply. */
  strictOutput: JsonObject | null
  temperature: number | null
}

/** `files`: the ids of images and PDFs that the model sees before the text. */
export type ConversationTurn =
  | { by: 'user'; text: string; files?: string[] }
  | { by: 'model'; text: string; calls: ToolCall[] }
  | { by: 'tools'; results: ToolCallResult[] }

export type ToolSpec = { name: string; description: string; schema: JsonObject; strict: boolean }

/** With an `inputError` the call is never executed: the model gets the error as its result. */
export type ToolCall = { id: string; name: string; input: JsonObject; inputError: string | null }

export type ToolCallResult = { id: string; ok: boolean; content: string }

/**
 * Stands for a file of the run in the content of a message. The model proxy puts the content there in the format of the
 * provider, so that it is neither in the memory of the cell nor in a transcript.
 */
export const FILE_BLOCK_TYPE = 'svc_file'

/** The content of a message of the user, in both formats. Providers recommend files before the text. */
export function userContent({ text, files = [] }: Extract<ConversationTurn, { by: 'user' }>): Json {
  if (files.length === 0) return text
  return [...files.map((file_id) => ({ type: FILE_BLOCK_TYPE, file_id })), { type: 'text', text }]
}

/** Types of files that models can look at. */
export const VISIBLE_TYPES: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]

/** Providers refuse a message without content, so an empty turn of the model is not sent back to them. */
export function hasContent(turn: ConversationTurn): boolean {
  return turn.by !== 'model' || turn.calls.length > 0 || turn.text.trim() !== ''
}

/**
 * Sets `additionalProperties: false` on every object of a schema. Both providers refuse a strict schema without it, and
 * the validator of the service ignores that keyword, so the result means the same to the service.
 */
export function closeSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closeSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const fields = Object.entries(schema).map(([key, value]) => [key, key === 'enum' ? value : closeSchema(value)])
  const copy: JsonObject = Object.fromEntries(fields)
  const isOpen = copy.type === 'object' && !('additionalProperties' in copy)
  return isOpen ? { ...copy, additionalProperties: false } : copy
}
