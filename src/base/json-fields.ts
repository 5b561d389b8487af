import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** Reading fields of JSON that somebody else wrote: what is absent or of another type is empty, never an exception. */
export function textField(from: JsonObject, key: string): string {
  const value = from[key]
  return typeof value === 'string' ? value : ''
}

export function objectField(from: JsonObject, key: string): JsonObject {
  const value = from[key]
  return isJsonObject(value) ? value : {}
}

export function listField(from: JsonObject, key: string): Json[] {
  const value = from[key]
  return Array.isArray(value) ? value : []
}

export function objectListField(from: JsonObject, key: string): JsonObject[] {
  return listField(from, key).filter(isJsonObject)
}

/** The fields of `from` that are there, so that an absent one stays absent. */
export function pickFields(from: JsonObject, ...keys: string[]): JsonObject {
  const picked: JsonObject = {}
  for (const key of keys) {
    const value = from[key]
    if (value !== undefined && value !== null) picked[key] = value
  }
  return picked
}

/** The sentence of an error body: ours is `{error: "…"}`, the providers' is `{error: {message: "…"}}`. */
export function errorMessageIn(body: Json): string {
  if (!isJsonObject(body)) return ''
  return textField(body, 'error') || textField(objectField(body, 'error'), 'message') || textField(body, 'message')
}

/** A count of tokens, or null: a provider that reports nonsense is not believed. */
export function countField(from: JsonObject, key: string): number | null {
  const value = from[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** The value of the text, or undefined when it is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** The object that the text is, or null when it is anything else. */
export function tryParseJsonObject(text: string): JsonObject | null {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : null
}
