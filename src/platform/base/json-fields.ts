import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** A field of JSON from outside; a missing field or one of another type is empty. */
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

/** The fields of `from` with these keys; a missing or null field is left out. */
export function pickFields(from: JsonObject, ...keys: string[]): JsonObject {
  const picked: JsonObject = {}
  for (const key of keys) {
    const value = from[key]
    if (value !== undefined && value !== null) picked[key] = value
  }
  return picked
}

/** The message of an error body: `{error: "…"}` of this service, or `{error: {message: "…"}}` of model providers. */
export function errorMessageIn(body: Json): string {
  if (!isJsonObject(body)) return ''
  return textField(body, 'error') || textField(objectField(body, 'error'), 'message') || textField(body, 'message')
}

/** A non-negative integer, or null. */
export function countField(from: JsonObject, key: string): number | null {
  const value = from[key]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** The parsed text, or undefined when it is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** The parsed text, or null when it is not a JSON object. */
export function tryParseJsonObject(text: string): JsonObject | null {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : null
}
