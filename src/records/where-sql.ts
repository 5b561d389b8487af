import { type Expression, type SqlBool, sql } from 'kysely'
import { COLUMNS, type Columns, columnKey, isShortBound } from './columns.ts'
import { sortKey } from './fields.ts'
import type { Condition, Scalar } from './where.ts'

/** All conditions on one field: they speak of one key, so a range is one stretch of the index. */
export interface FieldTest {
  path: string
  conditions: Condition[]
  /** The field must be there; else it is enough that nothing is there that is ruled out. */
  present: boolean
}

export function fieldTests(conditions: readonly Condition[]): FieldTest[] {
  const paths = new Map<string, Condition[]>()
  for (const condition of conditions) {
    const path = condition.path.join('.')
    paths.set(path, [...(paths.get(path) ?? []), condition])
  }
  return [...paths].map(([path, group]) => ({ path, conditions: group, present: group.some(demandsPresence) }))
}

const demandsPresence = ({ op, value }: Condition) => op !== 'ne' && (op !== 'exists' || value)

/** Whether a row of the index fulfils a test, by its key. */
export const keyFulfils = (key: Expression<unknown>, { conditions }: FieldTest): Expression<SqlBool> =>
  fulfils(key, conditions, sortKey)

/** Whether the record of an id fulfils a test, by the rows of its fields. */
export function recordFulfils(id: string, test: FieldTest): Expression<SqlBool> {
  const fits = keyFulfils(sql.ref('p.sort_key'), test)
  const found = sql`
    select 1 from record_fields as p where p.path = ${test.path} and p.record_id = ${sql.ref(id)}
      and ${test.present ? fits : sql`not (${fits})`}`
  // The offset keeps PostgreSQL from making a join of it, which would read the whole path for a few records.
  return sql<SqlBool>`${test.present ? sql`` : sql`not `}exists (${found} limit 1 offset 0)`
}

/** Whether a record fulfils all tests, by its row of columns as far as that can tell. */
export function columnsFulfil(
  row: { alias: string; columns: Columns },
  tests: readonly FieldTest[],
): Expression<SqlBool> {
  return sql.join(
    tests.map((test) => columnFulfils(row, test) ?? recordFulfils(`${row.alias}.record_id`, test)),
    sql` and `,
  )
}

function columnFulfils(
  { alias, columns }: { alias: string; columns: Columns },
  { path, conditions, present }: FieldTest,
): Expression<SqlBool> | null {
  const n = columns.get(path)
  if (n === undefined && columns.size >= COLUMNS) return null
  if (!conditions.every(isShort)) return null
  // While there are columns left, no record has a path without one.
  const key = n === undefined ? sql`cast(null as text)` : sql.ref(`${alias}.c${n}`)
  const fits = fulfils(key, conditions, (value) => columnKey(sortKey(value)))
  return present ? fits : sql<SqlBool>`(${key} is null or ${fits})`
}

const isShort = (condition: Condition) => !isBound(condition) || isShortBound(sortKey(condition.value))

type Bound = Extract<Condition, { op: 'gt' | 'gte' | 'lt' | 'lte' }>
const isBound = (condition: Condition): condition is Bound => condition.op in COMPARE

function fulfils(
  key: Expression<unknown>,
  conditions: readonly Condition[],
  written: (value: Scalar) => string,
): Expression<SqlBool> {
  const comparisons = conditions.map((condition) => comparison(key, condition, written))
  return sql<SqlBool>`${sql.join([...comparisons, ...typeBounds(key, conditions)], sql` and `)}`
}

/**
 * Keys of one type begin with one letter, and order exists only within a type. So a bound needs one at the other side,
 * unless it has one: of two, a store may take the wider one to read by.
 */
function typeBounds(key: Expression<unknown>, conditions: readonly Condition[]): Expression<SqlBool>[] {
  const lower = conditions.filter(({ op }) => op === 'gt' || op === 'gte').map(typeOfValue)
  const upper = conditions.filter(({ op }) => op === 'lt' || op === 'lte').map(typeOfValue)
  const openAbove = lower.filter((type) => !upper.includes(type))
  const openBelow = upper.filter((type) => !lower.includes(type))
  return [
    ...openAbove.map((type) => sql<SqlBool>`${key} < ${type === 'number' ? 'o' : 't'}`),
    ...openBelow.map((type) => sql<SqlBool>`${key} >= ${type === 'number' ? 'n' : 's'}`),
  ]
}

const typeOfValue = ({ value }: Condition) => typeof value

function comparison(
  key: Expression<unknown>,
  condition: Condition,
  written: (value: Scalar) => string,
): Expression<SqlBool> {
  switch (condition.op) {
    case 'eq':
      return sql<SqlBool>`${key} = ${written(condition.value)}`
    case 'ne':
      return sql<SqlBool>`${key} <> ${written(condition.value)}`
    case 'in':
      return condition.value.length === 0 ? NEVER : sql<SqlBool>`${key} in (${sql.join(condition.value.map(written))})`
    case 'exists':
      return sql<SqlBool>`${key} ${condition.value ? sql`is not null` : sql`is null`}`
    default:
      return sql<SqlBool>`${key} ${COMPARE[condition.op]} ${written(condition.value)}`
  }
}

const NEVER = sql<SqlBool>`1 = 0`
const COMPARE = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
