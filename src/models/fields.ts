import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/** Reading fields of JSON that somebody else wrote: what is absent or of another type is empty, never an exception. */
export function textOf(from: JsonObject, key: string): string {
  const value = from[key]
  return typeof value === 'string' ? value : ''
}

export function objectOf(from: JsonObject, key: string): JsonObject {
  const value = from[key]
  return isJsonObject(value) ? value : {}
}

export function objectsOf(from: JsonObject, key: string): JsonObject[] {
  const value = from[key]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** A count of tokens, or null: a provider that reports nonsense is not believed. */
export function countOf(from: JsonObject, key: string): number | null {
  const value = from[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** The value of the text, or undefined when it is not JSON. */
export function tryParse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
