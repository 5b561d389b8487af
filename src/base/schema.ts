import { canonical, isJsonObject, type Json, type JsonObject, nestsDeeper, own } from './json.ts'

export type SchemaError = { path: string; message: string }

const MAX_ERRORS = 100
const MAX_DEPTH = 128

/**
 * Checks types, `properties`, `required`, `items` and `enum`; every other keyword is ignored, and so is a keyword whose
 * own value makes no sense. Schemas and values come from strangers: it never throws, and its work grows with the sum of
 * their sizes, not with the product.
 */
export function schemaErrors(schema: JsonObject, value: Json): SchemaError[] {
  const check: Check = { rules: new Map(), errors: [] }
  visit(check, schema, value, '$', 0)
  return check.errors
}

/** What one schema node asks for. Built once per node, because `items` meets the same node for every element. */
type Rules = {
  types: Set<string> | null
  required: Set<string>
  properties: JsonObject | null
  items: Json
  /** Canonical texts: values are equal when their texts are. */
  enum: { texts: Set<string>; message: string } | null
}

type Check = { rules: Map<JsonObject, Rules>; errors: SchemaError[] }

function visit(check: Check, schema: Json | undefined, value: Json, path: string, depth: number): void {
  if (!isJsonObject(schema) || check.errors.length >= MAX_ERRORS) return
  if (depth > MAX_DEPTH) return report(check, path, 'is nested too deeply')
  const rules = rulesOf(check, schema)
  if (rules.types && !hasType(rules.types, value)) {
    return report(check, path, `must be ${[...rules.types].join(' or ')}, not ${typeName(value)}`)
  }
  if (rules.enum && (nestsDeeper(value, MAX_DEPTH) || !rules.enum.texts.has(canonical(value)))) {
    report(check, path, rules.enum.message)
  }
  if (Array.isArray(value)) visitItems(check, rules, value, path, depth)
  else if (isJsonObject(value)) visitProperties(check, rules, value, path, depth)
}

function visitItems(check: Check, rules: Rules, value: Json[], path: string, depth: number): void {
  if (!isJsonObject(rules.items)) return
  for (const [index, item] of value.entries()) visit(check, rules.items, item, `${path}[${index}]`, depth + 1)
}

function visitProperties(check: Check, rules: Rules, value: JsonObject, path: string, depth: number): void {
  for (const key of rules.required) {
    if (!Object.hasOwn(value, key)) report(check, path + step(key), 'is required')
    if (check.errors.length >= MAX_ERRORS) return
  }
  if (!rules.properties) return
  for (const [key, item] of Object.entries(value)) {
    const schema = own(rules.properties, key)
    if (schema !== undefined) visit(check, schema, item, path + step(key), depth + 1)
  }
}

function report(check: Check, path: string, message: string): void {
  if (check.errors.length < MAX_ERRORS) check.errors.push({ path, message })
}

function rulesOf(check: Check, schema: JsonObject): Rules {
  const known = check.rules.get(schema)
  if (known) return known
  const required = own(schema, 'required')
  const properties = own(schema, 'properties')
  const rules: Rules = {
    types: typesOf(own(schema, 'type')),
    required: new Set(Array.isArray(required) ? required.filter((key) => typeof key === 'string') : []),
    properties: isJsonObject(properties) ? properties : null,
    items: own(schema, 'items') ?? null,
    enum: enumOf(own(schema, 'enum')),
  }
  check.rules.set(schema, rules)
  return rules
}

const TYPES = new Set(['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'])

/** A type that does not exist cannot be judged, so a list that names one allows everything. */
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

function enumOf(choices: Json | undefined): Rules['enum'] {
  if (!Array.isArray(choices)) return null
  const texts = new Set(choices.filter((choice) => !nestsDeeper(choice, MAX_DEPTH)).map(canonical))
  const list = [...texts].slice(0, 20).join(', ')
  const short = texts.size <= 20 && list.length <= 500
  return { texts, message: short ? `must be one of ${list}` : `must be one of the ${texts.size} listed values` }
}

function step(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
