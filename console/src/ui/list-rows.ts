import type { Json } from '../api/types.ts'
import type { InputField } from './schema-fields.ts'

/** A schema may ask for any number of items. */
const MAX_FIRST_ROWS = 10

/**
 * The values of the rows that a list starts with: as many as `minItems` says, and one if the list is required and the row
 * has to be filled in.
 */
export function firstRows(list: InputField, item: InputField, values: readonly Json[] = []): Json[] {
  const count = firstRowCount(list, item, countNestedRows(item))
  const missing = Array.from({ length: Math.max(0, count - values.length) }, () => emptyRow(item))
  return [...values, ...missing]
}

/** The rows of lists in lists multiply, so that these lists share the limit. */
function firstRowCount({ required, minItems }: InputField, item: InputField, nestedRows: number): number {
  const wanted = Math.max(minItems, required && emptyRow(item) === undefined ? 1 : 0)
  return Math.min(wanted, Math.max(1, Math.floor(MAX_FIRST_ROWS / nestedRows)))
}

/** How many rows the largest list in a field starts with; at least 1. */
function countNestedRows(field: InputField): number {
  if (field.item === null || field.item.choices) return Math.max(1, ...field.fields.map(countNestedRows))
  const nestedRows = countNestedRows(field.item)
  return nestedRows * Math.max(1, firstRowCount(field, field.item, nestedRows))
}

/** The value of a new row. A box that is not checked means no. */
export function emptyRow(item: InputField): Json {
  if (isBox(item)) return false
  const hasOnlyBoxes = item.fields.length > 0 && item.fields.every(isBox)
  return hasOnlyBoxes ? Object.fromEntries(item.fields.map(({ name }) => [name, false])) : undefined
}

const isBox = ({ type, choices }: InputField) => type === 'boolean' && choices === null

/** The items of a list. Rows without a value are no part of it. */
export const filledRows = (rows: readonly Json[]): Json[] =>
  rows.flatMap((value) => (value === undefined || isBlank(value) ? [] : [value]))

export const isBlank = (value: Json) =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Whether a list with so many items has to be refused. An optional list may be left out. */
export const hasTooFewItems = ({ required, minItems }: InputField, count: number) =>
  (required || count > 0) && count < minItems
