import { isJsonObject, type Json } from '../../base/json.ts'
import type { JsonPath } from './json-with-lines.ts'
import { toText } from '../shell/format.ts'
import { addError, type WedgeInspection, type WedgeJsonFile, addWarning } from './findings.ts'

const SCHEMA_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const UNCHECKED_KEYWORDS =
  '$ref oneOf anyOf allOf not const pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems'.split(
    ' ',
  )

/**
 * Finds schemas that check less than they seem to, because the validator ignores invalid and unknown keywords.
 * `strict`: the model's provider also enforces the schema, and it supports more keywords.
 */
export function checkJsonSchema(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  schema: Json,
  path: JsonPath,
  strict: boolean,
): void {
  const reportKey = (key: string, message: string) =>
    addError(inspection, json.file, json.lineOf([...path, key]), `${[...path, key].join('.')} ${message}`)
  if (!isJsonObject(schema))
    return addError(inspection, json.file, json.lineOf(path), `${path.join('.')} must be an object`)
  const { type, properties, required, items, enum: choices } = schema
  const types = type === undefined ? [] : [type].flat()
  for (const name of types)
    if (!SCHEMA_TYPES.includes(toText(name))) reportKey('type', `must be one of ${SCHEMA_TYPES.join(', ')}`)
  if (choices !== undefined && (!Array.isArray(choices) || choices.length === 0))
    reportKey('enum', 'must be a list that is not empty')
  checkRequired(inspection, json, { required, properties }, path)
  if (properties !== undefined && !isJsonObject(properties)) reportKey('properties', 'must be an object')
  if (items !== undefined && !isJsonObject(items)) reportKey('items', 'must be an object')
  for (const key of strict ? [] : UNCHECKED_KEYWORDS.filter((name) => Object.hasOwn(schema, name))) {
    addWarning(
      inspection,
      json.file,
      json.lineOf([...path, key]),
      `${[...path, key].join('.')} is not checked by the service`,
    )
  }
  if (isJsonObject(items)) checkJsonSchema(inspection, json, items, [...path, 'items'], strict)
  for (const [name, inner] of Object.entries(isJsonObject(properties) ? properties : {})) {
    checkJsonSchema(inspection, json, inner, [...path, 'properties', name], strict)
  }
}

interface ObjectKeywords {
  required: Json | undefined
  properties: Json | undefined
}

function checkRequired(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  { required, properties }: ObjectKeywords,
  path: JsonPath,
): void {
  if (required === undefined) return
  const names = Array.isArray(required) ? required.map((name) => (typeof name === 'string' ? name : null)) : [null]
  for (const [index, name] of names.entries()) {
    const line = json.lineOf([...path, 'required', index])
    if (name === null) addError(inspection, json.file, line, `${path.join('.')}.required must be a list of strings`)
    else if (isJsonObject(properties) && !Object.hasOwn(properties, name)) {
      addWarning(inspection, json.file, line, `${path.join('.')} requires '${name}', which is not in its properties`)
    }
  }
}
