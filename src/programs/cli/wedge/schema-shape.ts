import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'

/** What a JSON Schema says about a value, as far as a type of a programming language can express it. */
export type SchemaShape =
  | { kind: 'any' }
  | { kind: 'named'; name: string }
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'scalar'; type: ScalarType }
  | { kind: 'array'; items: SchemaShape }
  | { kind: 'map'; values: SchemaShape }
  | { kind: 'object'; fields: ShapeField[] }
  | { kind: 'union'; of: SchemaShape[] }

export type ScalarType = 'string' | 'number' | 'integer' | 'boolean' | 'null'

export interface ShapeField {
  name: string
  isRequired: boolean
  description: string | undefined
  shape: SchemaShape
}

const SCALAR_TYPES: readonly ScalarType[] = ['string', 'number', 'integer', 'boolean', 'null']

/** Keywords that types cannot express, such as `minimum`, are ignored. A schema that says nothing allows any value. */
export function toSchemaShape(schema: Json | undefined): SchemaShape {
  if (!isJsonObject(schema)) return { kind: 'any' }
  if (typeof schema.$ref === 'string') return { kind: 'named', name: schema.$ref.split('/').at(-1) ?? '' }
  if (schema.const !== undefined) return unionOf([toLiteral(schema.const)])
  if (Array.isArray(schema.enum)) return unionOf(schema.enum.map(toLiteral))
  if (Array.isArray(schema.allOf)) return toSchemaShape(mergeAllOf(schema))
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) return unionOf(choices.map(toSchemaShape))
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => shapeOfType(schema, type)))
  return shapeOfType(schema, schema.type)
}

function shapeOfType(schema: JsonObject, type: Json | undefined): SchemaShape {
  if (type === 'array') return { kind: 'array', items: toSchemaShape(schema.items) }
  if (type === 'object' || (type === undefined && isJsonObject(schema.properties))) return objectShape(schema)
  const scalar = SCALAR_TYPES.find((name) => name === type)
  return scalar === undefined ? { kind: 'any' } : { kind: 'scalar', type: scalar }
}

/** One schema with the fields of all parts. */
function mergeAllOf({ allOf, ...schema }: JsonObject): JsonObject {
  const parts = [schema, ...(Array.isArray(allOf) ? allOf : [])].filter(isJsonObject)
  const properties = parts.map((part) => (isJsonObject(part.properties) ? part.properties : {}))
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []))
  return Object.assign({}, ...parts, { properties: Object.assign({}, ...properties), required })
}

function objectShape(schema: JsonObject): SchemaShape {
  if (!isJsonObject(schema.properties) || Object.keys(schema.properties).length === 0) {
    return { kind: 'map', values: toSchemaShape(schema.additionalProperties) }
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    isRequired: required.includes(name),
    description: isJsonObject(property) && typeof property.description === 'string' ? property.description : undefined,
    shape: toSchemaShape(property),
  }))
  return { kind: 'object', fields }
}

function toLiteral(value: Json): SchemaShape {
  return typeof value === 'object' && value !== null ? { kind: 'any' } : { kind: 'literal', value }
}

/** A union with a member that allows everything allows everything. */
function unionOf(shapes: SchemaShape[]): SchemaShape {
  const [only, ...others] = shapes
  if (only === undefined || shapes.some(({ kind }) => kind === 'any')) return { kind: 'any' }
  return others.length === 0 ? only : { kind: 'union', of: shapes }
}
