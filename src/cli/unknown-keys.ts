import { z } from 'zod'
import { isJsonObject, type Json } from '../base/json.ts'
import type { Path } from './json-places.ts'
import { nearest } from './nearest.ts'

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
