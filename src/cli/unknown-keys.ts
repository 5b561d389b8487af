import { z } from 'zod'
import { isJsonObject, type Json } from '../base/json.ts'
import type { Path } from './json-places.ts'

/** The keys of a value that its schema does not know, each with the known key that was probably meant. */
export function unknownKeys(schema: z.ZodType, value: Json): { path: Path; meant: string | null }[] {
  const shape = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return walk(shape, value, [])
}

type Shape = { properties?: unknown; additionalProperties?: unknown; items?: unknown }
const shapeOf = (shape: unknown): Shape => (isJsonObject(shape) ? shape : {})

function walk(given: unknown, value: Json, path: Path): { path: Path; meant: string | null }[] {
  const shape = shapeOf(given)
  if (Array.isArray(value)) return value.flatMap((item, at) => walk(shape.items, item, [...path, at]))
  if (!isJsonObject(value)) return []
  const known = isJsonObject(shape.properties) ? shape.properties : null
  return Object.entries(value).flatMap(([key, item]) => {
    if (known && Object.hasOwn(known, key)) return walk(known[key], item, [...path, key])
    if (known) return [{ path: [...path, key], meant: nearest(key, Object.keys(known)) }]
    return walk(shape.additionalProperties, item, [...path, key])
  })
}

/** Two slips of the finger at most. */
function nearest(key: string, known: string[]): string | null {
  const scored = known.map((name) => ({ name, distance: distance(key.toLowerCase(), name) }))
  const best = scored.toSorted((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= 2 ? best.name : null
}

/** How many letters must be changed, added or left out (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
