import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { JsonPath } from '../base/json-with-lines.ts'

/** `unchecked` keywords have no effect; `undeclared` fields are required and not among the properties. */
export interface SchemaProblem {
  kind: 'invalid' | 'unchecked' | 'undeclared'
  path: JsonPath
  message: string
}

const SCHEMA_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const UNCHECKED_KEYWORDS =
  '$ref oneOf anyOf allOf not const pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems'.split(
    ' ',
  )

/** Finds what `schemaErrors` ignores in a schema: invalid keywords, and keywords that it does not know. */
export function findSchemaProblems(schema: Json, path: JsonPath = []): SchemaProblem[] {
  if (!isJsonObject(schema)) return [{ kind: 'invalid', path, message: 'must be an object' }]
  const { properties, items } = schema
  return [
    ...keywordProblems(schema, path),
    ...requiredProblems(schema, path),
    ...UNCHECKED_KEYWORDS.filter((name) => Object.hasOwn(schema, name)).map(
      (key): SchemaProblem => ({ kind: 'unchecked', path: [...path, key], message: 'is not checked by the service' }),
    ),
    ...(isJsonObject(items) ? findSchemaProblems(items, [...path, 'items']) : []),
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, inner]) =>
      findSchemaProblems(inner, [...path, 'properties', name]),
    ),
  ]
}

function keywordProblems({ type, properties, items, enum: choices }: JsonObject, path: JsonPath): SchemaProblem[] {
  const types = type === undefined ? [] : [type].flat()
  const wrong: [boolean, string, string][] = [
    [
      types.some((name) => typeof name !== 'string' || !SCHEMA_TYPES.includes(name)),
      'type',
      `must be one of ${SCHEMA_TYPES.join(', ')}`,
    ],
    [
      choices !== undefined && (!Array.isArray(choices) || choices.length === 0),
      'enum',
      'must be a list that is not empty',
    ],
    [properties !== undefined && !isJsonObject(properties), 'properties', 'must be an object'],
    [items !== undefined && !isJsonObject(items), 'items', 'must be an object'],
  ]
  return wrong
    .filter(([isWrong]) => isWrong)
    .map(([, key, message]) => ({ kind: 'invalid', path: [...path, key], message }))
}

function requiredProblems({ required, properties }: JsonObject, path: JsonPath): SchemaProblem[] {
  if (required === undefined) return []
  if (!Array.isArray(required))
    return [{ kind: 'invalid', path: [...path, 'required'], message: 'must be a list of strings' }]
  return required.flatMap((name, index): SchemaProblem[] => {
    const at = [...path, 'required', index]
    if (typeof name !== 'string') return [{ kind: 'invalid', path: at, message: 'must be a string' }]
    if (!isJsonObject(properties) || Object.hasOwn(properties, name)) return []
    return [{ kind: 'undeclared', path: at, message: `names '${name}', which is not in the properties` }]
  })
}
