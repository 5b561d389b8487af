import { canonicalJson, isJsonObject, type Json, type JsonObject, ownField } from '../base/json.ts'

/** One place where two values differ: what is absent on one side was added or removed. */
export interface JsonDifference extends JsonObject {
  path: string
}

/** Key by key, down to the values that differ; lists of the same length item by item. */
export function diffJson(before: Json, after: Json, path = ''): JsonDifference[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  if (isJsonObject(before) && isJsonObject(after)) return diffFields(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, at) => diffJson(item, after[at] ?? null, `${path}[${at}]`))
  }
  return [{ path, before, after }]
}

/** A difference in words that a person and a model read alike. */
export function describeDifference({ path, before, after }: JsonDifference): string {
  const place = path || 'all of it'
  if (before === undefined) return `${place}: added ${shortenValue(after)}`
  if (after === undefined) return `${place}: removed ${shortenValue(before)}`
  return `${place}: ${shortenValue(before)} → ${shortenValue(after)}`
}

function diffFields(before: JsonObject, after: JsonObject, path: string): JsonDifference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const place = joinPath(path, key)
    const [old, young] = [ownField(before, key), ownField(after, key)]
    if (old === undefined) return young === undefined ? [] : [{ path: place, after: young }]
    return young === undefined ? [{ path: place, before: old }] : diffJson(old, young, place)
  })
}

function joinPath(path: string, key: string): string {
  const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
  return path ? `${path}.${name}` : name
}

const MAX_VALUE_CHARACTERS = 600

function shortenValue(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null)
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
}
