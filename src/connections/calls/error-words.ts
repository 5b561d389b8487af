import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'

/** In this order; `Message` and `message` are the same field. */
const SENTENCE_FIELDS = ['message', 'error_message', 'error_description', 'description', 'detail', 'title', 'reason']
const CODE_FIELDS = ['code', 'type']
const DETAIL_FIELDS = ['details', 'errors']
const MAX_DETAILS = 3
const MAX_DEPTH = 4

/** What the body of an error says in words; empty if it says nothing. A page of HTML says nothing on one line. */
export function findErrorWords(body: Json, depth = MAX_DEPTH): string {
  if (typeof body === 'string') return body.trimStart().startsWith('<') ? '' : body.trim()
  if (depth === 0) return ''
  if (Array.isArray(body)) return describeDetails(body, depth)
  if (!isJsonObject(body)) return ''
  const fields = lowerCaseFields(body)
  const error = findErrorWords(fields.error ?? null, depth - 1)
  const sentence = isJsonObject(fields.error) && error !== '' ? error : findText(fields, SENTENCE_FIELDS) || error
  const details = DETAIL_FIELDS.map((field) => describeDetails(fields[field] ?? null, depth - 1))
  const words = [sentence, ...details].filter((text, n, all) => text !== '' && all.indexOf(text) === n)
  return words.join(': ') || findText(fields, CODE_FIELDS)
}

/** One text, a list of errors, or the errors of each field by its name. */
function describeDetails(details: Json, depth: number): string {
  if (depth <= 0 || typeof details !== 'object' || details === null) return findErrorWords(details, depth)
  const described = Array.isArray(details)
    ? details.slice(0, MAX_DETAILS).map((one) => findErrorWords(one, depth - 1))
    : [findErrorWords(details, depth - 1) || describeFields(details, depth - 1)]
  return described.filter((text) => text !== '').join(', ')
}

function describeFields(errors: JsonObject, depth: number): string {
  const described = Object.entries(errors)
    .slice(0, MAX_DETAILS)
    .map(([field, error]) => [field, describeDetails(error, depth)])
  return described.flatMap(([field, text]) => (text === '' ? [] : [`${field}: ${text}`])).join(', ')
}

const lowerCaseFields = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).map(([field, value]) => [field.toLowerCase(), value]))

function findText(fields: JsonObject, names: readonly string[]): string {
  const texts = names.map((name) => fields[name]).filter((value) => typeof value === 'string')
  return texts.find((text) => text.trim() !== '')?.trim() ?? ''
}
