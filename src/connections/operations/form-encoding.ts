import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { type FileReference, isFileReference } from '../../platform/contract/file-reference.ts'

/** `file` is set for a file, which only a multipart body can send as one. */
export type FormField = { name: string; value: string; file?: FileReference }

/**
 * Nested values as fields, in the form that Stripe and others take: `meta[k]`, `tags[0]`. An empty object or list has no
 * fields; null is an empty text.
 */
export function toFormFields(values: JsonObject): FormField[] {
  const fields = Object.entries(values).flatMap(([name, value]) => flattenField(name, value))
  const names = new Set<string>()
  for (const { name } of fields) {
    // `{"line": {"amount": 1}, "line[amount]": 1000000}`: the server would choose which of the two amounts counts.
    if (names.has(name)) throw badRequest(`field '${name}' would be sent twice`)
    names.add(name)
  }
  return fields
}

function flattenField(name: string, value: Json): FormField[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => flattenField(`${name}[${index}]`, item))
  if (isFileReference(value)) return [{ name, value: '', file: value }]
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => flattenField(`${name}[${key}]`, item))
  return [{ name, value: value === null ? '' : String(value) }]
}

/** The text of a form body or of a query. */
export const encodeForm = (fields: FormField[]): string =>
  fields.map(({ name, value }) => `${encodeText(name)}=${encodeText(value)}`).join('&')

/** Brackets stay readable, as in the vendors' own clients; everything else that RFC 3986 reserves is escaped. */
const encodeText = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']')
