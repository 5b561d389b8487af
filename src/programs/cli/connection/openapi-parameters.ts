import type { Json, JsonObject } from '../../../platform/base/json.ts'
import { isJsonObject } from '../../../platform/base/json.ts'
import { AMOUNT_KEYS } from '../../../platform/contract/undeclared-amount.ts'
import { ImportProblem, resolveRef, toTextOrEmpty } from './openapi-document.ts'
import { toJsonSchema, toPlainText } from './openapi-schema.ts'

const MAX_DESCRIPTION_CHARACTERS = 300

/** Where the parameters of an operation go, and the arguments that fill them. */
export interface PlacedParameters {
  path: string
  query: Record<string, string>
  headers: Record<string, string>
  properties: JsonObject
  required: string[]
  idempotencyHeader: string | null
  notes: string[]
}

/** OpenAPI says that parameters with these names are ignored; the service sets them itself. */
const OWN_HEADERS = /^(accept|content-type|authorization)$/i
/** Headers of the connection itself, which an operation must not set. */
const HOP_HEADERS =
  /^(host|connection|content-length|cookie|transfer-encoding|upgrade|te|trailer|expect|via|proxy-.*)$/i
const IDEMPOTENCY_HEADER = /idempotency[-_]?key$/i

export function placeParameters(
  document: JsonObject,
  path: string,
  parameters: JsonObject[],
  bodyFields: string[],
): PlacedParameters {
  const placed: PlacedParameters = {
    path,
    query: {},
    headers: {},
    properties: {},
    required: [],
    idempotencyHeader: null,
    notes: [],
  }
  const taken = new Set(bodyFields)
  for (const parameter of parameters) placeParameter(document, placed, parameter, taken)
  declarePathFields(placed, taken)
  return placed
}

function placeParameter(document: JsonObject, placed: PlacedParameters, parameter: JsonObject, taken: Set<string>) {
  const name = toTextOrEmpty(parameter.name)
  const place = toTextOrEmpty(parameter.in)
  if (place === 'header' && OWN_HEADERS.test(name)) return
  if (place === 'header' && IDEMPOTENCY_HEADER.test(name)) {
    placed.idempotencyHeader = name
    return
  }
  const problem = parameterProblem(document, parameter)
  if (problem !== null) {
    if (parameter.required === true || place === 'path') throw new ImportProblem(`its parameter '${name}' ${problem}`)
    placed.notes.push(`parameter '${name}' is left out: it ${problem}`)
    return
  }
  // A rule with a limit would see only one of the two amounts.
  if (taken.has(name) && AMOUNT_KEYS.includes(name.toLowerCase()))
    throw new ImportProblem(`it has the amount '${name}' twice`)
  const field = fieldName(name, place, taken)
  if (place === 'path') placed.path = placed.path.replaceAll(`{${name}}`, `{${field}}`)
  if (place === 'query') placed.query[name] = `{${field}}`
  if (place === 'header') placed.headers[name] = `{${field}}`
  placed.properties[field] = parameterSchema(document, parameter)
  if (parameter.required === true || place === 'path') placed.required.push(field)
}

/** What the service cannot send, as a text that follows the name; null if it can. */
function parameterProblem(document: JsonObject, parameter: JsonObject): string | null {
  const place = toTextOrEmpty(parameter.in)
  if (!['path', 'query', 'header'].includes(place)) return `is in a ${place || 'place without a name'}`
  if (isJsonObject(parameter.content)) return 'is a document inside a parameter'
  if (place === 'header' && HOP_HEADERS.test(toTextOrEmpty(parameter.name))) return 'is a header of HTTP itself'
  const { type, properties } = resolveRef(document, parameter.schema)
  const isObject = type === 'object' || isJsonObject(properties)
  if (isObject && !(place === 'query' && parameter.style === 'deepObject')) return 'is an object'
  return type === 'array' && place !== 'query' ? 'is a list' : null
}

/** A list in the query is sent by most APIs as repeated names; the service sends one value. */
function parameterSchema(document: JsonObject, parameter: JsonObject): JsonObject {
  const schema = toJsonSchema(document, parameter.schema)
  const description = toPlainText(parameter.description, MAX_DESCRIPTION_CHARACTERS)
  const isList = schema.type === 'array' && parameter.style !== 'deepObject'
  const one: JsonObject = isList ? (parameter.explode === false ? { type: 'string' } : toItem(schema.items)) : schema
  const hint = !isList ? '' : parameter.explode === false ? 'Values joined by commas.' : 'One value.'
  const text = [description, hint].filter(Boolean).join(' ')
  return { ...one, ...(text !== '' && { description: text }) }
}

const toItem = (items: Json | undefined): JsonObject => (isJsonObject(items) ? items : { type: 'string' })

/** Letters, digits, `_` and `-`, and not the name of another argument. */
function fieldName(name: string, place: string, taken: Set<string>): string {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 50) || 'value'
  let field = taken.has(plain) ? `${plain}_${place}` : plain
  for (let n = 2; taken.has(field); n++) field = `${plain}_${place}${n}`
  taken.add(field)
  return field
}

/** Some documents do not declare the parameters of their paths. */
function declarePathFields(placed: PlacedParameters, taken: Set<string>): void {
  placed.path = placed.path.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    if (placed.required.includes(name)) return whole
    const field = fieldName(name, 'path', taken)
    placed.properties[field] = { type: 'string' }
    placed.required.push(field)
    return `{${field}}`
  })
}
