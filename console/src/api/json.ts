import type { Json, JsonObject } from './types.ts'

/** An object unchanged; any other value as an empty object. */
export const toObject = (value: Json): JsonObject => (isObject(value) ? value : {})

export const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as one line of text. */
export function toText(value: Json): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The name of a file in the payload of an action, which has it with its hash; null: the value is no file. */
export function fileName(value: Json): string | null {
  const { $file, name } = toObject(value)
  return $file !== undefined && typeof name === 'string' ? name : null
}
