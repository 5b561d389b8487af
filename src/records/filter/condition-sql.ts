import { type Expression, type SqlBool, sql } from 'kysely'
import { type ColumnsByPath, toColumnKey, LONG_TEXT_KEYS, toBoundKey } from './column-rows.ts'
import { toSortKey } from './fields.ts'
import type { FilterCondition, FilterScalar } from './where.ts'

/** All conditions on one field: they speak of one key, so a range is one stretch of the index. */
export interface FieldTest {
  path: string
  conditions: FilterCondition[]
  /** The field must be there; else it is enough that nothing is there that is ruled out. */
  present: boolean
}

export function toFieldTests(conditions: readonly FilterCondition[]): FieldTest[] {
  const paths = new Map<string, FilterCondition[]>()
  for (const condition of conditions) {
    const path = condition.path.join('.')
    paths.set(path, [...(paths.get(path) ?? []), condition])
  }
  return [...paths].map(([path, group]) => ({ path, conditions: group, present: group.some(requiresPresence) }))
}

const requiresPresence = ({ op, value }: FilterCondition) => op !== 'ne' && (op !== 'exists' || value)

/** Whether a row of the index fulfils a test, by its key. */
export const sortKeyMatches = (key: Expression<unknown>, { conditions }: FieldTest): Expression<SqlBool> =>
  keyMatches(key, conditions, { same: toSortKey, bound: toSortKey })

/** Whether the record of an id fulfils a test, by the rows of its fields: for a few records. */
export function recordMatches(id: string, test: FieldTest): Expression<SqlBool> {
  // The offset keeps PostgreSQL from making a join of it, which would read the whole path for a few records.
  return sql<SqlBool>`${notIf(!test.present)} exists (select 1 from record_fields as p where p.path = ${test.path}
    and p.record_id = ${sql.ref(id)} and ${notIf(!test.present)} (${sortKeyMatches(sql.ref('p.sort_key'), test)})
    limit 1 offset 0)`
}

/**
 * The same for many records of a shelf: all rows of the path are read, once. As the operand of `is` it is no join, which
 * PostgreSQL would plan by a guess at the number of rows: it keeps the ids in a hash.
 */
export function recordInMatches(id: string, shelf: string, test: FieldTest): Expression<SqlBool> {
  return sql<SqlBool>`(${sql.ref(id)} in (select p.record_id from record_fields as p
    where p.shelf = ${shelf} and p.path = ${test.path}
    and ${notIf(!test.present)} (${sortKeyMatches(sql.ref('p.sort_key'), test)}))) is ${test.present ? sql`true` : sql`false`}`
}

const notIf = (negative: boolean) => (negative ? sql`not` : sql``)

/**
 * Whether a row of columns, which the statement calls `c`, fulfils all tests, in their order; `byRows` tells what it
 * cannot, and comes last, because it costs most.
 */
export function columnsMatch(
  columns: ColumnsByPath,
  tests: readonly FieldTest[],
  byRows: (test: FieldTest) => Expression<SqlBool>,
): Expression<SqlBool> {
  const asksRows = (test: FieldTest) => !columns.has(test.path) || comparesText(test)
  const inOrder = tests.toSorted((a, b) => Number(asksRows(a)) - Number(asksRows(b)))
  return sql.join(
    inOrder.map((test) => {
      const n = columns.get(test.path)
      return n === undefined ? byRows(test) : columnMatches(sql.ref(`c.c${n}`), test, byRows)
    }),
    sql` and `,
  )
}

/** A column does not tell the order of long strings. */
const comparesText = ({ conditions }: FieldTest) =>
  conditions.some(({ op, value }) => op in COMPARE && typeof value === 'string')

function columnMatches(
  key: Expression<unknown>,
  test: FieldTest,
  byRows: (test: FieldTest) => Expression<SqlBool>,
): Expression<SqlBool> {
  const { conditions, present } = test
  const fits = keyMatches(key, conditions, {
    same: (value) => toColumnKey(toSortKey(value)),
    bound: (value) => toBoundKey(toSortKey(value)),
  })
  if (!present) return sql<SqlBool>`(${key} is null or ${fits})`
  if (!comparesText(test)) return fits
  return sql<SqlBool>`(${fits} or (${key} >= ${LONG_TEXT_KEYS.from} and ${key} < ${LONG_TEXT_KEYS.to} and ${byRows(test)}))`
}

/** How the values of conditions are written: those that a key may be the same as, and those that bound it. */
interface KeyFormat {
  same: (value: FilterScalar) => string
  bound: (value: FilterScalar) => string
}

function keyMatches(
  key: Expression<unknown>,
  conditions: readonly FilterCondition[],
  written: KeyFormat,
): Expression<SqlBool> {
  const comparisons = conditions.map((condition) => comparison(key, condition, written))
  return sql<SqlBool>`${sql.join([...comparisons, ...typeBounds(key, conditions)], sql` and `)}`
}

/**
 * Keys of one type begin with one letter, and order exists only within a type. So a bound needs one at the other side,
 * unless it has one: of two, a store may take the wider one to read by.
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

function comparison(key: Expression<unknown>, condition: FilterCondition, written: KeyFormat): Expression<SqlBool> {
  switch (condition.op) {
    case 'eq':
      return sql<SqlBool>`${key} = ${written.same(condition.value)}`
    case 'ne':
      return sql<SqlBool>`${key} <> ${written.same(condition.value)}`
    case 'in':
      return condition.value.length === 0
        ? NEVER
        : sql<SqlBool>`${key} in (${sql.join(condition.value.map(written.same))})`
    case 'exists':
      return sql<SqlBool>`${key} ${condition.value ? sql`is not null` : sql`is null`}`
    default:
      return sql<SqlBool>`${key} ${COMPARE[condition.op]} ${written.bound(condition.value)}`
  }
}

const NEVER = sql<SqlBool>`1 = 0`
const COMPARE = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
