import { z } from 'zod'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import type { JsonPath } from '../../../platform/base/json-with-lines.ts'
import { closestName } from '../../../platform/base/closest-name.ts'

interface UnknownKey {
  path: JsonPath
  /** The known key with the most similar name. */
  suggestion: string | null
}

/** Finds the keys of a value that its schema does not know. */
export function findUnknownKeys(schema: z.ZodType, value: Json): UnknownKey[] {
  return walkSchema(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }), value, [])
}

type SchemaNode = { properties?: unknown; additionalProperties?: unknown; items?: unknown }
const toSchemaNode = (schema: unknown): SchemaNode => (isJsonObject(schema) ? schema : {})

function walkSchema(schema: unknown, value: Json, path: JsonPath): UnknownKey[] {
  const node = toSchemaNode(schema)
  if (Array.isArray(value)) return value.flatMap((item, index) => walkSchema(node.items, item, [...path, index]))
  if (!isJsonObject(value)) return []
  const known = isJsonObject(node.properties) ? node.properties : null
  return Object.entries(value).flatMap(([key, item]) => {
    if (known && Object.hasOwn(known, key)) return walkSchema(known[key], item, [...path, key])
    if (known) return [{ path: [...path, key], suggestion: closestName(key, Object.keys(known)) }]
    return walkSchema(node.additionalProperties, item, [...path, key])
  })
}
