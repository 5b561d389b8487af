import { canonicalJson, isJsonObject, type Json, type JsonObject, isNestedDeeperThan, ownField } from '../base/json.ts'
import { isFileReference } from './file-reference.ts'

export type SchemaError = { path: string; message: string }

const MAX_ERRORS = 100
const MAX_DEPTH = 128

/**
 * Checks `type`, `properties`, `required`, `items` and `enum`; ignores every other keyword and every invalid one.
 * Schemas and values are untrusted: it never throws, and takes time proportional to the sum of their sizes.
 */
export const schemaErrors = (schema: JsonObject, value: Json): SchemaError[] => checkSchema(schema, value, false)

/** The same for the arguments of an action, in which a file may stand for a text: its content is sent in its place. */
export const argumentErrors = (schema: JsonObject, value: Json): SchemaError[] => checkSchema(schema, value, true)

function checkSchema(schema: JsonObject, value: Json, takesFiles: boolean): SchemaError[] {
  const check: SchemaCheck = { rules: new Map(), errors: [], takesFiles }
  visit(check, schema, value, '$', 0)
  return check.errors
}

/** The rules of one schema node, built once per node because `items` applies one node to every element. */
type SchemaRules = {
  types: Set<string> | null
  required: Set<string>
  properties: JsonObject | null
  items: Json
  /** Values as canonical JSON: values are equal when their texts are. */
  enum: { texts: Set<string>; message: string } | null
}

type SchemaCheck = { rules: Map<JsonObject, SchemaRules>; errors: SchemaError[]; takesFiles: boolean }

function visit(check: SchemaCheck, schema: Json | undefined, value: Json, path: string, depth: number): void {
  if (!isJsonObject(schema) || check.errors.length >= MAX_ERRORS) return
  if (depth > MAX_DEPTH) return report(check, path, 'is nested too deeply')
  const rules = rulesOf(check, schema)
  if (check.takesFiles && rules.types?.has('string') && isFileReference(value)) return
  if (rules.types && !hasType(rules.types, value)) {
    return report(check, path, `must be ${[...rules.types].join(' or ')}, not ${typeName(value)}`)
  }
  if (rules.enum && (isNestedDeeperThan(value, MAX_DEPTH) || !rules.enum.texts.has(canonicalJson(value)))) {
    report(check, path, rules.enum.message)
  }
  if (Array.isArray(value)) visitItems(check, rules, value, path, depth)
  else if (isJsonObject(value)) visitProperties(check, rules, value, path, depth)
}

function visitItems(check: SchemaCheck, rules: SchemaRules, value: Json[], path: string, depth: number): void {
  if (!isJsonObject(rules.items)) return
  for (const [index, item] of value.entries()) visit(check, rules.items, item, `${path}[${index}]`, depth + 1)
}

function visitProperties(check: SchemaCheck, rules: SchemaRules, value: JsonObject, path: string, depth: number): void {
  for (const key of rules.required) {
    if (!Object.hasOwn(value, key)) report(check, path + pathStep(key), 'is required')
    if (check.errors.length >= MAX_ERRORS) return
  }
  if (!rules.properties) return
  for (const [key, item] of Object.entries(value)) {
    const schema = ownField(rules.properties, key)
    if (schema !== undefined) visit(check, schema, item, path + pathStep(key), depth + 1)
  }
}

function report(check: SchemaCheck, path: string, message: string): void {
  if (check.errors.length < MAX_ERRORS) check.errors.push({ path, message })
}

function rulesOf(check: SchemaCheck, schema: JsonObject): SchemaRules {
  const known = check.rules.get(schema)
  if (known) return known
  const required = ownField(schema, 'required')
  const properties = ownField(schema, 'properties')
  const rules: SchemaRules = {
    types: typesOf(ownField(schema, 'type')),
    required: new Set(Array.isArray(required) ? required.filter((key) => typeof key === 'string') : []),
    properties: isJsonObject(properties) ? properties : null,
    items: ownField(schema, 'items') ?? null,
    enum: enumOf(ownField(schema, 'enum')),
  }
  check.rules.set(schema, rules)
  return rules
}

const TYPES = new Set(['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'])

/** A list that contains an unknown type allows everything. */
function typesOf(type: Json | undefined): Set<string> | null {
  const list = Array.isArray(type) ? type : [type]
  const names = list.filter((name) => typeof name === 'string')
  const known = names.length === list.length && names.every((name) => TYPES.has(name))
  return known && names.length > 0 ? new Set(names) : null
}

function hasType(types: Set<string>, value: Json): boolean {
  const name = typeName(value)
  return types.has(name) || (name === 'integer' && types.has('number'))
}

function typeName(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function enumOf(choices: Json | undefined): SchemaRules['enum'] {
  if (!Array.isArray(choices)) return null
  const texts = new Set(choices.filter((choice) => !isNestedDeeperThan(choice, MAX_DEPTH)).map(canonicalJson))
  const list = [...texts].slice(0, 20).join(', ')
  const short = texts.size <= 20 && list.length <= 500
  return { texts, message: short ? `must be one of ${list}` : `must be one of the ${texts.size} listed values` }
}

function pathStep(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
