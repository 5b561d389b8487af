import type { Json, JsonObject } from '../../api/types.ts'

const BLANK = /^<([^<>]+)>$/

/** What only a person knows stands as `<name>` in the call that fixes an item. */
export function blanksOf(value: Json): string[] {
  if (typeof value === 'string') return BLANK.exec(value)?.slice(1) ?? []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap(blanksOf))]
}

export function filled(body: JsonObject, given: Record<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, fill(value, given)]))
}

function fill(value: Json, given: Record<string, string>): Json {
  if (typeof value === 'string') return given[BLANK.exec(value)?.[1] ?? ''] ?? value
  if (Array.isArray(value)) return value.map((one) => fill(one, given))
  return typeof value === 'object' && value !== null ? filled(value, given) : value
}
