import { z } from 'zod'
import { isJsonObject, type Json } from '../../base/json.ts'
import type { JsonPath } from './json-with-lines.ts'
import { closestName } from '../shell/closest-name.ts'

/** The keys of a value that its schema does not know, each with the known key that was probably meant. */
export function findUnknownKeys(schema: z.ZodType, value: Json): { path: JsonPath; meant: string | null }[] {
  const shape = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return walkSchema(shape, value, [])
}

type SchemaNode = { properties?: unknown; additionalProperties?: unknown; items?: unknown }
const toSchemaNode = (shape: unknown): SchemaNode => (isJsonObject(shape) ? shape : {})

function walkSchema(given: unknown, value: Json, path: JsonPath): { path: JsonPath; meant: string | null }[] {
  const shape = toSchemaNode(given)
  if (Array.isArray(value)) return value.flatMap((item, at) => walkSchema(shape.items, item, [...path, at]))
  if (!isJsonObject(value)) return []
  const known = isJsonObject(shape.properties) ? shape.properties : null
  return Object.entries(value).flatMap(([key, item]) => {
    if (known && Object.hasOwn(known, key)) return walkSchema(known[key], item, [...path, key])
    if (known) return [{ path: [...path, key], meant: closestName(key, Object.keys(known)) }]
    return walkSchema(shape.additionalProperties, item, [...path, key])
  })
}
