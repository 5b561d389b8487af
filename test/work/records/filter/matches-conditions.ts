import { isJsonObject, type Json, ownField } from '../../../../src/platform/base/json.ts'
import type { FilterCondition } from '../../../../src/work/records/filter/where.ts'

/** What the conditions mean on every store, written without SQL. */
export function matchesConditions(conditions: FilterCondition[], value: Json): boolean {
  return conditions.every((condition) => matchesCondition(condition, valueAtPath(value, condition.path)))
}

function valueAtPath(value: Json, path: string[]): Json | undefined {
  let found: Json | undefined = value
  for (const segment of path) {
    found = isJsonObject(found) ? ownField(found, segment) : undefined
  }
  return found
}

function matchesCondition(condition: FilterCondition, found: Json | undefined): boolean {
  switch (condition.op) {
    case 'eq':
      return found === condition.value
    case 'ne':
      return found !== condition.value
    case 'in':
      return condition.value.some((choice) => found === choice)
    case 'exists':
      return (found !== undefined) === condition.value
  }
  const order = compare(found, condition.value)
  if (order === null) return false
  if (condition.op === 'gt') return order > 0
  if (condition.op === 'gte') return order >= 0
  return condition.op === 'lt' ? order < 0 : order <= 0
}

function compare(left: Json | undefined, right: string | number): number | null {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  // By UTF-8 bytes, as both stores can; UTF-16 code units would order emoji differently.
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return null
}
