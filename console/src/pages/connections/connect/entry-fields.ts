import { toText } from '../../../api/json.ts'
import type { Json, JsonObject } from '../../../api/types.ts'
import { connectText } from './text.ts'

/** A field of the form. Its value becomes the config field or the parameter of the same name. */
export interface EntryField {
  name: string
  label: string
  hint: string
  type: 'string' | 'number' | 'json'
  required: boolean
  example?: string
  initial?: string
}

export interface EntrySecret {
  label: string
  where: string
  required: boolean
}

/** The values of the form as JSON; an empty field is left out. Throws for invalid JSON. */
export function readFields(fields: EntryField[], values: Record<string, string>): JsonObject {
  const filled = fields.filter(({ name }) => (values[name] ?? '').trim() !== '')
  return Object.fromEntries(filled.map((one) => [one.name, readField(one, (values[one.name] ?? '').trim())]))
}

/** The parameters of a preset are texts and numbers. */
export const readParams = (fields: EntryField[], values: Record<string, string>): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(readFields(fields, values)).map(([name, value]) => [
      name,
      typeof value === 'number' ? value : toText(value),
    ]),
  )

function readField({ type, label }: EntryField, value: string): Json {
  if (type === 'string') return value
  if (type === 'number') return Number(value)
  try {
    const parsed: Json = JSON.parse(value)
    return parsed
  } catch {
    throw new Error(connectText.notJson(label))
  }
}
