import { toObject } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { filledRows, firstRows } from './list-rows.ts'
import type { InputField } from './schema-fields.ts'

/**
 * What a person entered, with the required values that nothing has to be entered for: a box that is not checked means no,
 * also in the rows that a list starts with, and a list without items is empty. The same in the objects and lists that have
 * a value.
 */
export function completeInput(fields: readonly InputField[], input: JsonObject): JsonObject {
  const values = fields.flatMap((field): [string, Json][] => {
    const value = completeValue(field, input[field.name])
    return value === undefined ? [] : [[field.name, value]]
  })
  return { ...input, ...Object.fromEntries(values) }
}

function completeValue(field: InputField, value: Json): Json {
  const { type, required, choices, fields, item } = field
  if (value === undefined && !required) return undefined
  if (type === 'boolean' && choices === null) return value ?? false
  if (type === 'object') return completeInput(fields, toObject(value))
  if (type === 'entries') return value ?? {}
  if (type !== 'list') return value
  if (!item) return value ?? []
  const list = Array.isArray(value) ? value : filledRows(firstRows(field, item))
  return list.map((one) => completeValue(item, one) ?? one)
}
