import { canonicalJson, isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'

/** One path where two values differ. Without `before` it was added, without `after` it was removed. */
export interface JsonDifference extends JsonObject {
  path: string
}

/** Compares objects by key, and lists of the same length by item. */
export function diffJson(before: Json, after: Json, path = ''): JsonDifference[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  if (isJsonObject(before) && isJsonObject(after)) return diffFields(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, at) => diffJson(item, after[at] ?? null, `${path}[${at}]`))
  }
  return [{ path, before, after }]
}

export function describeDifference({ path, before, after }: JsonDifference): string {
  const shownPath = path || 'whole value'
  if (before === undefined) return `${shownPath}: added ${shortenValue(after)}`
  if (after === undefined) return `${shownPath}: removed ${shortenValue(before)}`
  return `${shownPath}: ${shortenValue(before)} → ${shortenValue(after)}`
}

function diffFields(before: JsonObject, after: JsonObject, path: string): JsonDifference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const keyPath = joinPath(path, key)
    const [oldValue, newValue] = [ownField(before, key), ownField(after, key)]
    if (oldValue === undefined) return newValue === undefined ? [] : [{ path: keyPath, after: newValue }]
    return newValue === undefined ? [{ path: keyPath, before: oldValue }] : diffJson(oldValue, newValue, keyPath)
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
