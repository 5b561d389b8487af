import { canonical, isJsonObject, type Json, type JsonObject, own } from '../base/json.ts'

/** One place where two values differ: what is absent on one side was added or removed. */
export interface Difference extends JsonObject {
  path: string
}

/** Key by key, down to the values that differ; lists of the same length item by item. */
export function diff(before: Json, after: Json, path = ''): Difference[] {
  if (canonical(before) === canonical(after)) return []
  if (isJsonObject(before) && isJsonObject(after)) return diffFields(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, at) => diff(item, after[at] ?? null, `${path}[${at}]`))
  }
  return [{ path, before, after }]
}

/** A difference in words that a person and a model read alike. */
export function tell({ path, before, after }: Difference): string {
  const place = path || 'all of it'
  if (before === undefined) return `${place}: added ${short(after)}`
  if (after === undefined) return `${place}: removed ${short(before)}`
  return `${place}: ${short(before)} → ${short(after)}`
}

function diffFields(before: JsonObject, after: JsonObject, path: string): Difference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const place = step(path, key)
    const [old, young] = [own(before, key), own(after, key)]
    if (old === undefined) return young === undefined ? [] : [{ path: place, after: young }]
    return young === undefined ? [{ path: place, before: old }] : diff(old, young, place)
  })
}

function step(path: string, key: string): string {
  const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key)
  return path ? `${path}.${name}` : name
}

const SHORT = 600

function short(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null)
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text
}
