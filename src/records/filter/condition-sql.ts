import { type Expression, type SqlBool, sql } from 'kysely'
import { toSortKey } from './fields.ts'
import type { FilterCondition } from './where.ts'

/** All conditions on one field. They compare one key, so a range is one stretch of the index. */
export interface FieldTest {
  path: string
  conditions: FilterCondition[]
  /** Whether a record without the field fails the test. */
  mustExist: boolean
}

/** One test for each field, in the order in which they are likely to reject a record. */
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

const rank = ({ conditions }: FieldTest) => Math.min(...conditions.map(({ op }) => REJECTS_MOST_FIRST.indexOf(op)))

const REJECTS_MOST_FIRST: FilterCondition['op'][] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'exists', 'ne']

/** Whether all rows of the index that match have the same key, so that the index has them in the order of their ids. */
export const hasSingleKey = ({ conditions }: FieldTest): boolean => conditions.some(({ op }) => op === 'eq')

/** Whether a sort key matches; null, which stands for an absent field, only if the test allows that. */
export function keyMatches(key: Expression<unknown>, { conditions, mustExist }: FieldTest): Expression<SqlBool> {
  const comparisons = [...conditions.map((condition) => compareKey(key, condition)), ...typeBounds(key, conditions)]
  const all = sql<SqlBool>`${sql.join(comparisons, sql` and `)}`
  return mustExist ? all : sql<SqlBool>`(${key} is null or ${all})`
}

/** Whether a record matches, looked up by its id. */
export function recordMatches(id: string, test: FieldTest): Expression<SqlBool> {
  // `offset 0` keeps PostgreSQL from turning the subquery into a join that reads the path of all records.
  return sql<SqlBool>`${notUnless(test.mustExist)} exists (select 1 from record_fields as p where p.path = ${test.path}
    and p.record_id = ${sql.ref(id)} and ${notUnless(test.mustExist)} ${keyMatches(sql.ref('p.sort_key'), test)}
    limit 1 offset 0)`
}

/** The same for many records of a collection: reads all rows of the path once and keeps the ids in memory. */
export function recordIsAmongMatches(id: string, shelf: string, test: FieldTest): Expression<SqlBool> {
  // As the operand of `is` the subquery cannot become a join.
  return sql<SqlBool>`(${sql.ref(id)} in (select p.record_id from record_fields as p
    where p.shelf = ${shelf} and p.path = ${test.path} and ${notUnless(test.mustExist)}
    ${keyMatches(sql.ref('p.sort_key'), test)})) is ${test.mustExist ? sql`true` : sql`false`}`
}

/** A record without the field matches a negative test, so such a test looks for a row that fails it. */
const notUnless = (isPositive: boolean) => (isPositive ? sql`` : sql`not`)

/**
 * Keys of one type begin with one letter, and order exists only within a type. So a bound needs a bound on its other
 * side, unless it has one: of two, a store may choose the wider one to search by.
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
