import { hash } from 'node:crypto'
import { isJsonObject, type Json } from '../base/json.ts'
import { badRequest } from '../base/problem.ts'
import { isSegment, MAX_LEVELS, MAX_ORDERED_BYTES, type Scalar } from './where.ts'

export interface Field {
  path: string
  sortKey: string
}

/** Each field costs a row, so there must be an end to them. */
export const MAX_FIELDS = 1000

/** Every field of a value that a `where` can name, with what it is compared by. */
export function fieldsOf(value: Json): Field[] {
  const fields: Field[] = []
  collect(value, [], fields)
  return fields
}

/**
 * A scalar as text: the keys of two scalars are equal when the scalars are, and the keys of two numbers or two strings
 * sort by their bytes as the values do. A long string is cut, with a hash in place of the rest; it still sorts right
 * against every string that is short enough for `where` to order by.
 */
export function sortKey(value: Scalar): string {
  if (typeof value === 'number') return `n${numberKey(value)}`
  if (typeof value === 'boolean') return value ? 'b1' : 'b0'
  return value === null ? 'z' : `s${textKey(value)}`
}

/** Objects and lists exist, and differ from every scalar. */
const COMPOSITE = 'j'

function collect(value: Json, parents: string[], fields: Field[]): void {
  if (!isJsonObject(value) || parents.length === MAX_LEVELS) return
  for (const [name, child] of Object.entries(value)) {
    if (!isSegment(name)) continue
    const path = [...parents, name]
    const composite = typeof child === 'object' && child !== null
    fields.push({ path: path.join('.'), sortKey: composite ? COMPOSITE : sortKey(child) })
    if (fields.length > MAX_FIELDS) throw badRequest(`field 'value' must have at most ${MAX_FIELDS} fields`)
    collect(child, path, fields)
  }
}

/** The bits of a double sort like the number once the sign is flipped, and all of them for what is below zero. */
function numberKey(value: number): string {
  const bytes = Buffer.alloc(8)
  // Adding zero turns -0 into 0, which it equals.
  bytes.writeDoubleBE(value + 0)
  const bits = bytes.readBigUInt64BE()
  const sortable = bits >> 63n ? ~bits & ALL : bits | SIGN
  return sortable.toString(16).padStart(16, '0')
}

const SIGN = 1n << 63n
const ALL = (1n << 64n) - 1n

/** A character has at most four bytes, so what is cut off a long text leaves more than `MAX_ORDERED_BYTES`. */
const CUT_BYTES = MAX_ORDERED_BYTES + 4

function textKey(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= CUT_BYTES) return text
  let end = CUT_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + hash('sha256', bytes, 'base64url')
}
