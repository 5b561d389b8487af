import { type Expression, type SqlBool, sql } from 'kysely'
import { toSortKey } from './fields.ts'
import type { FilterCondition } from './where.ts'

/** All conditions on one field. They share a key, so a range with two bounds reads one section of the index. */
export interface FieldTest {
  path: string
  conditions: FilterCondition[]
  /** Whether a record without the field fails the test. */
  mustExist: boolean
}

/** One test for each field, the tests that are likely to reject the most records first. */
export function toFieldTests(conditions: readonly FilterCondition[]): FieldTest[] {
  const paths = new Map<string, FilterCondition[]>()
  for (const condition of conditions) {
    const path = condition.path.join('.')
    paths.set(path, [...(paths.get(path) ?? []), condition])
  }
  return [...paths]
    .map(([path, group]) => ({ path, conditions: group, mustExist: group.some(requiresField) }))
    .toSorted((a, b) => rank(a) - rank(b))
}

const requiresField = ({ op, value }: FilterCondition) => op !== 'ne' && (op !== 'exists' || value)

const rank = ({ conditions }: FieldTest) =>
  Math.min(...conditions.map(({ op }) => OPERATORS_BY_SELECTIVITY.indexOf(op)))

const OPERATORS_BY_SELECTIVITY: FilterCondition['op'][] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'exists', 'ne']

/** Whether all matching index rows have the same key: then the index returns them in the order of the record ids. */
export const hasSingleKey = ({ conditions }: FieldTest): boolean => conditions.some(({ op }) => op === 'eq')

/** Whether a sort key passes the test. */
export function keyMatches(key: Expression<unknown>, { conditions }: FieldTest): Expression<SqlBool> {
  const comparisons = [...conditions.map((condition) => compareKey(key, condition)), ...typeBounds(key, conditions)]
  return sql<SqlBool>`(${sql.join(comparisons, sql` and `)})`
}

/** Whether a record passes the test, by a lookup in its index rows. */
export function recordMatches(test: FieldTest): Expression<SqlBool> {
  // `offset 0` keeps PostgreSQL from reading the path of all records into a hash table.
  return sql<SqlBool>`${notIfNegative(test)} exists (select 1 from record_fields as p where p.record_id = records.id
    and p.path = ${test.path} and ${notIfNegative(test)} ${keyMatches(sql.ref('p.sort_key'), test)} limit 1 offset 0)`
}

/** A record without the field passes a negative test, so a negative test looks for a row that fails it. */
const notIfNegative = ({ mustExist }: FieldTest) => (mustExist ? sql`` : sql`not`)

/**
 * Keys of one type begin with one letter, and only values of one type have an order. So a condition with one bound gets
 * a second bound at the end of the type. A condition with two bounds gets none: the database might search by the wider one.
 */
function typeBounds(key: Expression<unknown>, conditions: readonly FilterCondition[]): Expression<SqlBool>[] {
  const lower = conditions.filter(({ op }) => op === 'gt' || op === 'gte').map(typeOfValue)
  const upper = conditions.filter(({ op }) => op === 'lt' || op === 'lte').map(typeOfValue)
  const openAbove = lower.filter((type) => !upper.includes(type))
  const openBelow = upper.filter((type) => !lower.includes(type))
  return [
    ...openAbove.map((type) => sql<SqlBool>`${key} < ${type === 'number' ? 'o' : 't'}`),
    ...openBelow.map((type) => sql<SqlBool>`${key} >= ${type === 'number' ? 'n' : 's'}`),
  ]
}

const typeOfValue = ({ value }: FilterCondition) => typeof value

function compareKey(key: Expression<unknown>, condition: FilterCondition): Expression<SqlBool> {
  switch (condition.op) {
    case 'eq':
      return sql<SqlBool>`${key} = ${toSortKey(condition.value)}`
    case 'ne':
      return sql<SqlBool>`${key} <> ${toSortKey(condition.value)}`
    case 'in':
      return condition.value.length === 0
        ? NEVER
        : sql<SqlBool>`${key} in (${sql.join(condition.value.map(toSortKey))})`
    case 'exists':
      return sql<SqlBool>`${key} ${condition.value ? sql`is not null` : sql`is null`}`
    default:
      return sql<SqlBool>`${key} ${OPERATORS[condition.op]} ${toSortKey(condition.value)}`
  }
}

const NEVER = sql<SqlBool>`1 = 0`
const OPERATORS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
