import { z } from 'zod'
import { isJsonObject } from '../base/json.ts'

/** The header of a response that names the fields of the body that the service does not know and ignores. */
export const IGNORED_FIELDS_HEADER = 'x-svc-ignored-fields'

const MAX_NAMES = 20
const MAX_NAME_CHARACTERS = 100

/** The header, if the body has fields that the schema does not have. Its objects must be loose, so that they keep them. */
export function ignoredFieldsHeader(schema: z.ZodObject, body: object): Record<string, string> {
  const names = listIgnoredFields(schema, body).slice(0, MAX_NAMES)
  // A header holds no other characters, and names of fields may be anything.
  const shown = names.map((name) => encodeURIComponent(name).slice(0, MAX_NAME_CHARACTERS))
  return shown.length > 0 ? { [IGNORED_FIELDS_HEADER]: shown.join(', ') } : {}
}

function listIgnoredFields({ shape }: z.ZodObject, body: object): string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    const field: unknown = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (field === undefined) return [name]
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field
    if (!(inner instanceof z.ZodObject) || !isJsonObject(value)) return []
    return listIgnoredFields(inner, value).map((one) => `${name}.${one}`)
  })
}
