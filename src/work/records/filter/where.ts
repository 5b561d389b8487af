import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { badRequest } from '../../../platform/base/problem.ts'

export type FilterScalar = string | number | boolean | null

/**
 * One condition on the value of a record. A record matches if it meets all of them. Two values are equal if their JSON
 * types and values are. Two numbers and two strings have an order, strings by their UTF-8 bytes. An absent field differs
 * from every value, also from null. Paths lead through objects only, never into arrays.
 */
export type FilterCondition = { path: string[] } & (
  | { op: 'eq' | 'ne'; value: FilterScalar }
  | { op: 'gt' | 'gte' | 'lt' | 'lte'; value: string | number }
  | { op: 'in'; value: FilterScalar[] }
  | { op: 'exists'; value: boolean }
)

const MAX_CONDITIONS = 20
export const MAX_PATH_LEVELS = 8
const MAX_CHOICES = 100
/** A longer string can be compared for equality only. */
export const MAX_ORDERED_TEXT_BYTES = 196

/** A field name that can be part of a path. */
export const isPathSegment = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** Reads `{"status": "open", "total.usd": {"$gte": 5, "$lt": 10}}`; everything else is a 400. */
export function parseWhere(json: unknown): FilterCondition[] {
  if (!isJsonObject(json)) throw badRequest('where must be a json object')
  const conditions = Object.entries(json).flatMap(([field, wanted]) => {
    const path = parsePath(field)
    if (!isJsonObject(wanted)) return [{ path, op: 'eq' as const, value: scalar(field, wanted) }]
    return parseOperators(field, path, wanted)
  })
  if (conditions.length > MAX_CONDITIONS) throw badRequest(`where takes at most ${MAX_CONDITIONS} conditions`)
  return conditions
}

function parsePath(field: string): string[] {
  const path = field.split('.')
  if (path.length > MAX_PATH_LEVELS) throw badRequest(`where: a path must have at most ${MAX_PATH_LEVELS} levels`)
  if (!path.every(isPathSegment)) {
    throw badRequest('where: a path must consist of letters, digits, _ and -, joined by dots')
  }
  return path
}

function parseOperators(field: string, path: string[], wanted: JsonObject): FilterCondition[] {
  const operators = Object.entries(wanted)
  if (operators.length === 0) throw badRequest(`where: '${field}' must be compared with a scalar or by operators`)
  return operators.map(([operator, value]) => parseOperator(field, path, operator, value))
}

function parseOperator(field: string, path: string[], operator: string, value: Json): FilterCondition {
  switch (operator) {
    case '$ne':
      return { path, op: 'ne', value: scalar(field, value) }
    case '$gt':
      return { path, op: 'gt', value: ordered(field, value) }
    case '$gte':
      return { path, op: 'gte', value: ordered(field, value) }
    case '$lt':
      return { path, op: 'lt', value: ordered(field, value) }
    case '$lte':
      return { path, op: 'lte', value: ordered(field, value) }
    case '$in':
      return { path, op: 'in', value: choices(field, value) }
    case '$exists':
      if (typeof value !== 'boolean') throw badRequest(`where: $exists of '${field}' must be true or false`)
      return { path, op: 'exists', value }
    default:
      throw badRequest(
        `where: '${field}' has an unknown operator; known are $gt, $gte, $lt, $lte, $ne, $in and $exists`,
      )
  }
}

function scalar(field: string, value: Json): FilterScalar {
  if (typeof value === 'object' && value !== null)
    throw badRequest(`where: '${field}' can only be compared with a scalar`)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw badRequest(`where: the number for '${field}' is too large`)
  return value
}

function ordered(field: string, value: Json): string | number {
  const found = scalar(field, value)
  if (typeof found === 'string' && Buffer.byteLength(found) > MAX_ORDERED_TEXT_BYTES) {
    throw badRequest(`where: '${field}' can only be ordered by a string of at most ${MAX_ORDERED_TEXT_BYTES} bytes`)
  }
  if (typeof found === 'string' || typeof found === 'number') return found
  throw badRequest(`where: '${field}' can only be ordered by a number or a string`)
}

function choices(field: string, value: Json): FilterScalar[] {
  if (!Array.isArray(value) || value.length > MAX_CHOICES) {
    throw badRequest(`where: $in of '${field}' must be a list of at most ${MAX_CHOICES} scalars`)
  }
  return value.map((choice) => scalar(field, choice))
}
