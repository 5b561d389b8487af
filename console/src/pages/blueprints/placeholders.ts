import { isObject } from '../../api/json.ts'
import type { Json, JsonObject } from '../../api/types.ts'

const PLACEHOLDER = /^<([^<>]+)>$/

/** Lists the names of the `<name>` placeholders in the body of a fix: values that only a person knows. */
export function listPlaceholders(value: Json): string[] {
  if (typeof value === 'string') return PLACEHOLDER.exec(value)?.slice(1) ?? []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap(listPlaceholders))]
}

export function fillPlaceholders(body: JsonObject, values: Record<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, fillValue(value, values)]))
}

function fillValue(value: Json, values: Record<string, string>): Json {
  if (typeof value === 'string') return values[PLACEHOLDER.exec(value)?.[1] ?? ''] ?? value
  if (Array.isArray(value)) return value.map((element) => fillValue(element, values))
  return isObject(value) ? fillPlaceholders(value, values) : value
}
