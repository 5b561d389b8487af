import { hash } from 'node:crypto'
import { isJsonObject, type Json } from '../../../platform/base/json.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { isPathSegment, MAX_PATH_LEVELS, MAX_ORDERED_TEXT_BYTES, type FilterScalar } from './where.ts'

export interface RecordField {
  path: string
  sortKey: string
}

/** Each field costs a row in the index. */
export const MAX_RECORD_FIELDS = 1000

/** Every field of a value that `where` can name, with the key that it is compared by. */
export function toRecordFields(value: Json): RecordField[] {
  const fields: RecordField[] = []
  collectFields(value, [], fields)
  return fields
}

/**
 * A scalar as text: keys are equal if the scalars are, and the keys of two numbers or two strings sort by their bytes like
 * the values. A long string is cut and ends with a hash; it still sorts correctly against every string that is short
 * enough for `where` to order by.
 */
export function toSortKey(value: FilterScalar): string {
  if (typeof value === 'number') return `n${toNumberKey(value)}`
  if (typeof value === 'boolean') return value ? 'b1' : 'b0'
  return value === null ? 'z' : `s${toTextKey(value)}`
}

/** The key of objects and lists: they exist and differ from every scalar. */
const COMPOSITE_KEY = 'j'

function collectFields(value: Json, parents: string[], fields: RecordField[]): void {
  if (!isJsonObject(value) || parents.length === MAX_PATH_LEVELS) return
  for (const [name, child] of Object.entries(value)) {
    if (!isPathSegment(name)) continue
    const path = [...parents, name]
    const composite = typeof child === 'object' && child !== null
    fields.push({ path: path.join('.'), sortKey: composite ? COMPOSITE_KEY : toSortKey(child) })
    if (fields.length > MAX_RECORD_FIELDS)
      throw badRequest(`field 'value' must have at most ${MAX_RECORD_FIELDS} fields`)
    collectFields(child, path, fields)
  }
}

/** The bits of a double sort like the number if the sign bit is flipped, and for negative numbers all bits. */
function toNumberKey(value: number): string {
  const bytes = Buffer.alloc(8)
  // Adding zero turns -0 into 0, which is equal to it.
  bytes.writeDoubleBE(value + 0)
  const bits = bytes.readBigUInt64BE()
  const sortable = bits >> 63n ? ~bits & ALL : bits | SIGN
  return sortable.toString(16).padStart(16, '0')
}

const SIGN = 1n << 63n
const ALL = (1n << 64n) - 1n

/** A character has at most four bytes, so at least `MAX_ORDERED_TEXT_BYTES` remain of a text that is cut. */
const MAX_TEXT_KEY_BYTES = MAX_ORDERED_TEXT_BYTES + 4

function toTextKey(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_TEXT_KEY_BYTES) return text
  let end = MAX_TEXT_KEY_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + hash('sha256', bytes, 'base64url')
}
