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
 * Complains about schemas that would not check what they seem to: the validator passes over whatever makes no sense.
 * `strict`: the model's provider holds the output to the schema as well, and knows more keywords.
 */
export function checkJsonSchema(
  inspection: WedgeInspection,
  sheet: WedgeJsonFile,
  schema: Json,
  path: JsonPath,
  strict: boolean,
): void {
  const wrong = (key: string, message: string) =>
    addError(inspection, sheet.file, sheet.lineOf([...path, key]), `${[...path, key].join('.')} ${message}`)
  if (!isJsonObject(schema))
    return addError(inspection, sheet.file, sheet.lineOf(path), `${path.join('.')} must be an object`)
  const { type, properties, required, items, enum: choices } = schema
  const types = type === undefined ? [] : [type].flat()
  for (const name of types)
    if (!SCHEMA_TYPES.includes(toText(name))) wrong('type', `must be one of ${SCHEMA_TYPES.join(', ')}`)
  if (choices !== undefined && (!Array.isArray(choices) || choices.length === 0)) wrong('enum', 'must be a list')
  checkRequired(inspection, sheet, { required, properties }, path)
  if (properties !== undefined && !isJsonObject(properties)) wrong('properties', 'must be an object')
  if (items !== undefined && !isJsonObject(items)) wrong('items', 'must be an object')
  for (const key of strict ? [] : UNCHECKED_KEYWORDS.filter((name) => Object.hasOwn(schema, name))) {
    addWarning(
      inspection,
      sheet.file,
      sheet.lineOf([...path, key]),
      `${[...path, key].join('.')} is not checked by the service`,
    )
  }
  if (isJsonObject(items)) checkJsonSchema(inspection, sheet, items, [...path, 'items'], strict)
  for (const [name, inner] of Object.entries(isJsonObject(properties) ? properties : {})) {
    checkJsonSchema(inspection, sheet, inner, [...path, 'properties', name], strict)
  }
}

interface ObjectKeywords {
  required: Json | undefined
  properties: Json | undefined
}

function checkRequired(
  inspection: WedgeInspection,
  sheet: WedgeJsonFile,
  { required, properties }: ObjectKeywords,
  path: JsonPath,
): void {
  if (required === undefined) return
  const names = Array.isArray(required) ? required.map((name) => (typeof name === 'string' ? name : null)) : [null]
  for (const [at, name] of names.entries()) {
    const line = sheet.lineOf([...path, 'required', at])
    if (name === null) addError(inspection, sheet.file, line, `${path.join('.')}.required must be a list of strings`)
    else if (isJsonObject(properties) && !Object.hasOwn(properties, name)) {
      addWarning(
        inspection,
        sheet.file,
        line,
        `${path.join('.')} requires '${name}', which its properties do not describe`,
      )
    }
  }
}
