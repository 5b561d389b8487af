import { type Expression, type SqlBool, sql } from 'kysely'
import { sortKey } from './fields.ts'
import type { Condition } from './where.ts'

/** All conditions on one field. They speak of one row, so a range is one stretch of the index. */
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

/** Rows of the index, all of one path. */
export interface Stretch {
  path: string
  keys: (key: Expression<unknown>) => Expression<SqlBool>
  /** All have the same key, so they lie in the order of age anyway. */
  oneKey: boolean
}

/** The rows by which records fulfil a test; for a test that is fulfilled by absence, those by which they fail it. */
export function stretchOf({ path, conditions, present }: FieldTest): Stretch {
  if (present) {
    return { path, keys: (key) => keyFulfils(key, conditions), oneKey: conditions.some(({ op }) => op === 'eq') }
  }
  const [condition, ...more] = conditions
  if (condition?.op !== 'ne' || more.length > 0) return { path, keys: () => ALWAYS, oneKey: false }
  const out = sortKey(condition.value)
  return { path, keys: (key) => sql<SqlBool>`${key} = ${out}`, oneKey: true }
}

/** Whether the record of an id fulfils a test, by its own fields. */
export function recordFulfils(id: 'records.id' | 'f.record_id', test: FieldTest): Expression<SqlBool> {
  // Who knows the shelf has the answer in an index; without it, the index only leads to the row.
  const shelved = id === 'f.record_id' ? sql`p.shelf = f.shelf and ` : sql``
  const { path, keys } = stretchOf(test)
  const found = sql`
    select 1 from record_fields as p where ${shelved}p.path = ${path} and p.record_id = ${sql.ref(id)}
      and ${keys(sql.ref('p.sort_key'))}`
  // The offset keeps PostgreSQL from making a join of it, which would read the whole path for a few records.
  return sql<SqlBool>`${test.present ? sql`` : sql`not `}exists (${found} limit 1 offset 0)`
}

export const ALWAYS = sql<SqlBool>`1 = 1`
const NEVER = sql<SqlBool>`1 = 0`

/** Whether a key of the index fulfils all conditions on its field. */
function keyFulfils(key: Expression<unknown>, conditions: readonly Condition[]): Expression<SqlBool> {
  const comparisons = conditions.map((condition) => comparison(key, condition))
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

function comparison(key: Expression<unknown>, condition: Condition): Expression<SqlBool> {
  switch (condition.op) {
    case 'eq':
      return sql<SqlBool>`${key} = ${sortKey(condition.value)}`
    case 'ne':
      return sql<SqlBool>`${key} <> ${sortKey(condition.value)}`
    case 'in':
      return condition.value.length === 0 ? NEVER : sql<SqlBool>`${key} in (${sql.join(condition.value.map(sortKey))})`
    case 'exists':
      return condition.value ? ALWAYS : NEVER
    default:
      return sql<SqlBool>`${key} ${COMPARE[condition.op]} ${sortKey(condition.value)}`
  }
}

const COMPARE = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
