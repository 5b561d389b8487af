import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { ImportProblem, resolveRef, toList, toTextOrEmpty } from './openapi-document.ts'

/** The service takes schemas of at most 64 KiB. */
const MAX_SCHEMA_BYTES = 60 * 1024
const MAX_NODES = 20_000
const MAX_LEVELS = 10
const MAX_DESCRIPTION_CHARACTERS = 300

const SCHEMA_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

/** Keywords that mean the same in OpenAPI 3.0, in OpenAPI 3.1 and in JSON Schema. */
const KEPT_KEYWORDS = [
  'enum',
  'const',
  'default',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]

interface SchemaSource {
  document: JsonObject
  /** Deeper levels are cut. */
  levels: number
  nodesLeft: number
}

/**
 * The schema as JSON Schema without references. A circle is cut where it begins again, and a schema that is too large is
 * cut at a level at which it fits: below the cut, any value is accepted.
 */
export function toJsonSchema(document: JsonObject, schema: Json | undefined): JsonObject {
  for (let levels = MAX_LEVELS; levels > 0; levels--) {
    const source: SchemaSource = { document, levels, nodesLeft: MAX_NODES }
    const converted = convertSchema(source, schema, [], 0)
    if (source.nodesLeft > 0 && Buffer.byteLength(JSON.stringify(converted)) <= MAX_SCHEMA_BYTES) return converted
  }
  throw new ImportProblem('its schema is too large')
}

/** Of `allOf` inside `allOf`, which has no level of its own. */
const MAX_NESTING = 200

function convertSchema(
  source: SchemaSource,
  schema: Json | undefined,
  parents: JsonObject[],
  level: number,
): JsonObject {
  const node = resolveRef(source.document, schema)
  const isTooDeep = level >= source.levels || parents.length >= MAX_NESTING
  if (source.nodesLeft-- <= 0 || isTooDeep || parents.includes(node)) return {}
  const within = [...parents, node]
  const convert = (inner: Json | undefined) => convertSchema(source, inner, within, level + 1)
  // The parts of `allOf` are one schema, so they are on the same level.
  const parts = toList(node.allOf).map((part) => convertSchema(source, part, within, level))
  const own = { ...plainKeywords(node), ...nestedKeywords(node, convert) }
  return parts.length === 0 ? own : [own, ...parts].reduce(mergeSchemas)
}

function plainKeywords(node: JsonObject): JsonObject {
  const types = SCHEMA_TYPES.filter((type) => [node.type].flat().includes(type))
  // OpenAPI 3.0 has `nullable`, and 3.1 the type `null`.
  const all = node.nullable === true && types.length > 0 ? [...new Set([...types, 'null'])] : types
  const description = toPlainText(node.description, MAX_DESCRIPTION_CHARACTERS)
  return {
    ...(all.length > 0 && { type: all.length === 1 ? (all[0] ?? null) : all }),
    ...(description !== '' && { description }),
    ...Object.fromEntries(KEPT_KEYWORDS.flatMap((key) => (node[key] === undefined ? [] : [[key, node[key]]]))),
    ...(Array.isArray(node.enum) && { enum: node.nullable === true ? [...new Set([...node.enum, null])] : node.enum }),
  }
}

function nestedKeywords(node: JsonObject, convert: (inner: Json | undefined) => JsonObject): JsonObject {
  const properties = isJsonObject(node.properties) ? Object.entries(node.properties) : []
  const kept = properties.filter(([, inner]) => !isJsonObject(inner) || inner.readOnly !== true)
  const readOnly = new Set(properties.filter((entry) => !kept.includes(entry)).map(([name]) => name))
  const required = toList(node.required).filter((name) => typeof name === 'string' && !readOnly.has(name))
  const choices = (['oneOf', 'anyOf'] as const).flatMap((key) =>
    toList(node[key]).length > 0 ? [[key, toList(node[key]).map(convert)] as const] : [],
  )
  const { additionalProperties: more, items } = node
  return {
    ...(kept.length > 0 && { properties: Object.fromEntries(kept.map(([name, inner]) => [name, convert(inner)])) }),
    ...(required.length > 0 && { required }),
    ...(isJsonObject(items) && { items: convert(items) }),
    ...(more !== undefined && { additionalProperties: typeof more === 'boolean' ? more : convert(more) }),
    ...Object.fromEntries(choices),
  }
}

function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...toFields(one.properties), ...toFields(other.properties) }
  const required = [...new Set([...toList(one.required), ...toList(other.required)])]
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

const toFields = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** Descriptions are often HTML or Markdown of several paragraphs: the beginning as one line of text. */
export function toPlainText(value: Json | undefined, maxCharacters: number): string {
  const text = toTextOrEmpty(value)
    .replaceAll(/<\/?[a-z][a-z0-9]*(\s[^<>]{0,500})?>/gi, ' ')
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text
}
