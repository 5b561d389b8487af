import { readFileSync, statSync } from 'node:fs'
import { errorMessage } from '../../../platform/base/error-message.ts'
import { isJsonObject, type Json, type JsonObject, ownField } from '../../../platform/base/json.ts'
import { commandFailed, usageError } from '../shell/failure.ts'

const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Reads an OpenAPI 3.0 or 3.1 document, in JSON or YAML. */
export async function readOpenApiDocument(file: string): Promise<JsonObject> {
  const document = await parseDocument(file, readText(file))
  if (!isJsonObject(document)) throw commandFailed(`'${file}' is not an OpenAPI document`)
  const { openapi, swagger } = document
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi)) return document
  if (swagger !== undefined)
    throw commandFailed(`'${file}' is Swagger ${JSON.stringify(swagger)}`, 'convert it to OpenAPI 3 first')
  throw commandFailed(`'${file}' is not an OpenAPI 3.0 or 3.1 document: field 'openapi' is ${JSON.stringify(openapi)}`)
}

function readText(file: string): string {
  if (/^https?:/i.test(file))
    throw usageError(`'${file}' is not a file`, 'download the document first and name its file')
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw commandFailed(`'${file}' is larger than 64 MiB`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw usageError(`cannot read the file '${file}' (${errorMessage(error)})`)
  }
}

async function parseDocument(file: string, text: string): Promise<Json> {
  try {
    if (/^\s*\{/.test(text)) return JSON.parse(text)
    const { parseYaml } = await import('../../../platform/base/parse-yaml.ts')
    return parseYaml(text)
  } catch (error) {
    throw commandFailed(`'${file}' is neither JSON nor YAML: ${errorMessage(error)}`)
  }
}

/** An operation or a schema that cannot be imported; the message is a sentence about it. */
export class ImportProblem extends Error {}

const MAX_REF_CHAIN = 32

/** The object itself, or the one that its `$ref` names. Only references inside the document are followed. */
export function resolveRef(document: JsonObject, node: Json | undefined): JsonObject {
  let current = node
  for (let hops = 0; hops < MAX_REF_CHAIN; hops++) {
    if (!isJsonObject(current)) return {}
    if (typeof current.$ref !== 'string') return current
    current = fieldOfPointer(document, current.$ref)
  }
  throw new ImportProblem('its references form a circle')
}

function fieldOfPointer(document: JsonObject, ref: string): Json {
  if (!ref.startsWith('#/'))
    throw new ImportProblem(`it refers to '${ref}' outside the document: bundle the document into one file first`)
  let value: Json | undefined = document
  for (const part of ref.slice(2).split('/').map(decodePointerPart)) {
    if (Array.isArray(value)) value = value[Number(part)]
    else value = isJsonObject(value) ? ownField(value, part) : undefined
  }
  if (value === undefined) throw new ImportProblem(`it refers to '${ref}', which is not in the document`)
  return value
}

function decodePointerPart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

export const toList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

export const toTextOrEmpty = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
