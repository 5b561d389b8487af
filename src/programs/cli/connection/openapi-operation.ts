import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { removeTrailingSlashes } from '../../../platform/base/text.ts'
import { ImportProblem, resolveRef, toTextOrEmpty } from './openapi-document.ts'
import { type ListedOperation, parametersOf } from './openapi-list.ts'
import { placeParameters } from './openapi-parameters.ts'
import { toJsonSchema, toPlainText } from './openapi-schema.ts'

const MAX_DESCRIPTION_CHARACTERS = 500

export interface ImportedOperation {
  operation: JsonObject
  /** What the import left out, as sentences. */
  notes: string[]
}

/**
 * An entry of `config.operations`. Parameters and body become one object of arguments; a parameter whose name the body
 * uses too gets its place behind its name. Throws an ImportProblem for what the service cannot send.
 */
export function toOperation(document: JsonObject, listed: ListedOperation, isRead: boolean): ImportedOperation {
  const { name, method, spec } = listed
  if (isRead && method !== 'GET') throw new ImportProblem(`it is a ${method}, and only a GET can be a read`)
  const { kind, schema } = bodyOf(document, listed)
  const bodyFields = isJsonObject(schema.properties) ? schema.properties : {}
  const placed = placeParameters(document, listed.path, parametersOf(document, listed), Object.keys(bodyFields))
  const required = [...placed.required, ...(Array.isArray(schema.required) ? schema.required : [])]
  const description = toPlainText(spec.summary || spec.description, MAX_DESCRIPTION_CHARACTERS)
  const success = unusualSuccess(document, spec)
  return {
    operation: {
      name,
      ...(description !== '' && { description }),
      method,
      path: placed.path,
      ...(Object.keys(placed.query).length > 0 && { query: placed.query }),
      ...(Object.keys(placed.headers).length > 0 && { headers: placed.headers }),
      body: kind,
      input_schema: {
        ...schema,
        type: 'object',
        properties: { ...placed.properties, ...bodyFields },
        ...(required.length > 0 && { required }),
      },
      ...(isRead && { read: true }),
      ...(placed.idempotencyHeader !== null && { idempotency_header: placed.idempotencyHeader }),
      ...(success && { success }),
    },
    notes: placed.notes,
  }
}

type BodyKind = 'json' | 'form' | 'multipart' | 'none'

const BODY_KINDS: [BodyKind, RegExp][] = [
  ['json', /^application\/([\w.-]+\+)?json\b/i],
  ['form', /^application\/x-www-form-urlencoded\b/i],
  ['multipart', /^multipart\/form-data\b/i],
]

function bodyOf(document: JsonObject, { method, spec }: ListedOperation): { kind: BodyKind; schema: JsonObject } {
  const requestBody = resolveRef(document, spec.requestBody)
  const content = Object.entries(isJsonObject(requestBody.content) ? requestBody.content : {})
  // Some documents give every operation an empty body.
  if (content.length === 0 || method === 'GET') return { kind: 'none', schema: {} }
  for (const [kind, pattern] of BODY_KINDS) {
    const found = content.find(([type]) => pattern.test(type))
    if (!found) continue
    const schema = toJsonSchema(document, resolveRef(document, found[1]).schema)
    checkBodySchema(kind, schema)
    return { kind, schema }
  }
  const types = content.map(([type]) => type).join(', ')
  if (requestBody.required === true) throw new ImportProblem(`its body is ${types}, which the service cannot send`)
  return { kind: 'none', schema: {} }
}

function checkBodySchema(kind: BodyKind, { type, properties }: JsonObject): void {
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object')))
    throw new ImportProblem(`its body is not an object but ${JSON.stringify(type)}`)
  const fields = Object.entries(isJsonObject(properties) ? properties : {})
  const file = fields.find(([, schema]) => isJsonObject(schema) && schema.format === 'binary')
  if (kind === 'multipart' && file) throw new ImportProblem(`its field '${file[0]}' is a file`)
}

/**
 * Every 2xx is a success by itself. Only an operation that documents none of them, and redirects instead, needs its codes:
 * listing the documented 2xx would report an action as failed when the API answers with another 2xx.
 */
function unusualSuccess(document: JsonObject, spec: JsonObject): number[] | null {
  const codes = Object.keys(resolveRef(document, spec.responses))
  if (codes.some((code) => code.startsWith('2') || code === 'default')) return null
  const redirects = codes.filter((code) => /^30[1-3]$|^30[78]$/.test(code)).map(Number)
  return redirects.length > 0 ? redirects : null
}

/** The address of the API: `--base-url`, or the first server of the document with the defaults of its variables. */
export function baseUrlOf(document: JsonObject, given: string | undefined): string {
  if (given !== undefined) return given
  const [first] = Array.isArray(document.servers) ? document.servers : []
  const url = toTextOrEmpty(isJsonObject(first) ? first.url : undefined)
  const variables = isJsonObject(first) && isJsonObject(first.variables) ? first.variables : {}
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => defaultOf(variables[name]) ?? whole)
  if (url === '') throw new ImportProblem('the document names no server')
  if (/[{}]/.test(filled)) throw new ImportProblem(`its server '${url}' has a variable without a default`)
  if (!/^https?:\/\//i.test(filled)) throw new ImportProblem(`its server '${url}' is not a whole address`)
  return removeTrailingSlashes(filled)
}

const defaultOf = (variable: Json | undefined): string | null =>
  isJsonObject(variable) && typeof variable.default === 'string' ? variable.default : null
