import type { Json, JsonObject } from './types.ts'

/** An object unchanged; any other value as an empty object. */
export function toObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** A value as one line of text. */
export function toText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
