import { isJsonObject, isNestedDeeperThan, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'
import { listFileReferences } from '../../platform/contract/file-reference.ts'
import { inlinePayloadFiles, type PayloadFiles } from '../../work/files/payload-files.ts'
import type { OutgoingRequest } from '../auth/authorize-request.ts'
import { refuseAmbiguousFields } from './ambiguous-fields.ts'
import { encodeForm, type FormField, toFormFields } from './form-encoding.ts'
import { isHeaderText } from './header-rules.ts'
import { encodeMultipart, type MultipartPart } from './multipart.ts'
import type { Operation, ValueMap } from './operation.ts'
import { encodePathPart } from './path-part.ts'
import { fieldOf, fieldsOfPath, fillPath } from './placeholders.ts'

const MAX_URL_CHARACTERS = 8192
const MAX_HEADER_CHARACTERS = 4000
const MAX_DEPTH = 32

/**
 * The request of an operation, without credential. Throws a 400 if the arguments cannot be sent exactly as they are:
 * every field goes into the path, the query, a header or the body. `files` has the content of the files in the
 * arguments; a request that is only checked needs none.
 */
export function buildOperationRequest(
  baseUrl: string,
  operation: Operation,
  args: Json,
  files: PayloadFiles,
): OutgoingRequest {
  if (!isJsonObject(args)) throw badRequest('the arguments of an operation must be an object')
  if (isNestedDeeperThan(args, MAX_DEPTH)) throw badRequest(`the arguments must not have more than ${MAX_DEPTH} levels`)
  refuseAmbiguousFields(operation, args)
  refuseFilesOutsideBody(operation, args)
  const { headers: contentHeaders, body } = buildBody(operation, fieldsOfBody(operation, args), files)
  return {
    method: operation.method,
    url: buildUrl(operation.base_url ?? baseUrl, operation, args),
    headers: { accept: 'application/json, */*;q=0.5', ...contentHeaders, ...buildHeaders(operation, args) },
    ...(body !== undefined && { body }),
  }
}

/** The fields of the arguments that an operation uses outside the body. */
export function fieldsOutsideBody({ path, query = {}, headers = {} }: Operation): Set<string> {
  const mapped = [...Object.values(query), ...Object.values(headers)].map(fieldOf)
  return new Set([...fieldsOfPath(path), ...mapped.filter((field) => field !== null)])
}

function refuseFilesOutsideBody(operation: Operation, args: JsonObject): void {
  for (const field of fieldsOutsideBody(operation)) {
    if (listFileReferences([ownField(args, field) ?? null]).length > 0)
      throw badRequest(`field '${field}' must not be a file: it is not part of the body`)
  }
}

function buildUrl(baseUrl: string, { path, query = {} }: Operation, args: JsonObject): URL {
  const base = new URL(baseUrl)
  const pathname =
    removeTrailingSlashes(base.pathname) + fillPath(path, (field) => encodePathPart(field, ownField(args, field)))
  const search = encodeForm(toFormFields(mapValues(query, args)))
  const url = new URL(`${base.origin}${pathname}${search === '' ? '' : `?${search}`}`)
  // The URL parser resolves dot segments: a path that it changes is not the path of the operation.
  if (url.origin !== base.origin || url.pathname !== pathname)
    throw badRequest('the path of the operation must not leave the base url')
  if (url.href.length > MAX_URL_CHARACTERS)
    throw badRequest(`the address of the operation must have at most ${MAX_URL_CHARACTERS} characters`)
  return url
}

/** The constants, and the fields that are present. */
function mapValues(map: ValueMap, args: JsonObject): JsonObject {
  const values = Object.entries(map).map(([name, value]): [string, Json | undefined] => {
    const field = fieldOf(value)
    return [name, field === null ? value : ownField(args, field)]
  })
  return Object.fromEntries(
    values.filter((entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null),
  )
}

/** Names in lower case, so that no header is sent twice. */
function buildHeaders({ headers = {} }: Operation, args: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(mapValues(headers, args)).map(([name, value]) => {
      const text = typeof value === 'object' ? null : String(value)
      const problem = findHeaderValueProblem(text)
      if (problem !== null || text === null) {
        throw badRequest(`field '${fieldOf(headers[name] ?? '') ?? name}' ${problem}: it is sent as a header`)
      }
      return [name.toLowerCase(), text]
    }),
  )
}

function findHeaderValueProblem(text: string | null): string | null {
  if (text === null) return 'must be a string, a number, true or false'
  if (text.length > MAX_HEADER_CHARACTERS) return `must have at most ${MAX_HEADER_CHARACTERS} characters`
  return isHeaderText(text) ? null : 'must be printable ASCII without line breaks'
}

function fieldsOfBody(operation: Operation, args: JsonObject): JsonObject {
  const { fixed = {} } = operation
  const used = fieldsOutsideBody(operation)
  const fields = Object.entries(args).filter(([field]) => !used.has(field))
  const repeated = fields.find(([field]) => Object.hasOwn(fixed, field))
  if (repeated) throw badRequest(`field '${repeated[0]}' is set by the operation '${operation.name}'`)
  return Object.fromEntries([...Object.entries(fixed), ...fields])
}

function buildBody(
  { name, body }: Operation,
  fields: JsonObject,
  files: PayloadFiles,
): Pick<OutgoingRequest, 'headers' | 'body'> {
  if (body === 'json') {
    const headers = { 'content-type': 'application/json' }
    return { headers, body: JSON.stringify(inlinePayloadFiles(fields, files)) }
  }
  if (body === 'form') {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { headers, body: encodeForm(toFormFields(inlinePayloadFiles(fields, files))) }
  }
  if (body === 'multipart') {
    const encoded = encodeMultipart(toFormFields(fields).map((field) => toPart(field, files)))
    return { headers: { 'content-type': encoded.contentType }, body: encoded.body }
  }
  const [unused] = Object.keys(fields)
  // A person must not approve a field that is not sent.
  if (unused !== undefined) throw badRequest(`field '${unused}' is not used by the operation '${name}'`)
  return { headers: {} }
}

function toPart({ name, value, file }: FormField, files: PayloadFiles): MultipartPart {
  const found = file && files.get(file.$file)
  if (!found) return { name, content: value }
  return { name, content: found.content, filename: found.name, contentType: found.contentType }
}
