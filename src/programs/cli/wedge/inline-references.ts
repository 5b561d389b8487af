import { isJsonObject, type Json } from '../../../platform/base/json.ts'

/**
 * A schema in which every reference to a part of itself, such as `#/$defs/order`, is replaced by that part. A reference that
 * leads to itself or nowhere allows any value.
 */
export function inlineReferences(schema: Json, root: Json = schema, open: string[] = []): Json {
  if (Array.isArray(schema)) return schema.map((item) => inlineReferences(item, root, open))
  if (!isJsonObject(schema)) return schema
  const { $ref, ...others } = schema
  if (typeof $ref === 'string') {
    const target = open.includes($ref) ? null : findPart(root, $ref)
    return isJsonObject(target) ? inlineReferences({ ...target, ...others }, root, [...open, $ref]) : {}
  }
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, inlineReferences(part, root, open)]))
}

/** The part of a document that a JSON pointer names, or null. */
function findPart(root: Json, reference: string): Json {
  if (!reference.startsWith('#/')) return null
  let part: Json = root
  for (const name of reference.slice(2).split('/')) {
    const key = decodePointerPart(name)
    part = isJsonObject(part) && Object.hasOwn(part, key) ? (part[key] ?? null) : null
  }
  return part
}

const decodePointerPart = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')
