import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { sortKey } from './fields.ts'
import type { Condition } from './where.ts'

/** All conditions on one field. They speak of one row, so a range is one stretch of the index. */
export interface FieldTest {
  path: string
  conditions: Condition[]
  /** The field must be there; else it is enough that nothing is there that is ruled out. */
  present: boolean
}

/** A place in the index: the shelves that a collection has in the projects of the scope. */
export interface Shelves {
  shelves: string[]
  wedge?: string | undefined
  cursor?: string | undefined
  limit: number
}

export function fieldTests(conditions: readonly Condition[]): FieldTest[] {
  const paths = new Map<string, Condition[]>()
  for (const condition of conditions) {
    const path = condition.path.join('.')
    paths.set(path, [...(paths.get(path) ?? []), condition])
  }
  return [...paths].map(([path, group]) => ({ path, conditions: group, present: group.some(demandsPresence) }))
}

/** The test to start from, and the order in which the index is read for it. */
export interface Lead {
  test: FieldTest
  /** By key: all that fulfil the test are gathered. By age: the newest are tried, until a page is full. */
  order: 'key' | 'age'
}

/**
 * What few records fulfil is gathered, then tried by the other tests; what many fulfil is met soon from the newest on.
 * Null when each test is fulfilled by absence, of which an index knows nothing.
 */
export async function leadingTest(db: Db, place: Shelves, tests: readonly FieldTest[]): Promise<Lead | null> {
  const present = tests.filter((test) => test.present).toSorted((a, b) => breadth(a) - breadth(b))
  const [first] = present
  if (!first) return null
  if (tests.length === 1 && isOneKey(first)) return { test: first, order: 'key' }
  const counts = await Promise.all(present.map((test) => countUpTo(db, place, test, MANY)))
  const least = Math.min(...counts)
  const fewest = present[counts.indexOf(least)] ?? first
  return least < MANY ? { test: fewest, order: 'key' } : { test: first, order: isOneKey(first) ? 'key' : 'age' }
}

const MANY = 10_000

/** The ids of the newest records that fulfil all tests, read from the index alone. */
export function matchingIds(db: Db, place: Shelves, { test: lead, order }: Lead, tests: readonly FieldTest[]) {
  let query = onShelves(db, place, lead, order === 'key' ? sql.ref('f.sort_key') : sql`(f.sort_key || '')`).select(
    'f.record_id',
  )
  for (const test of tests) {
    if (test !== lead) query = query.where(recordFulfils('f.record_id', test))
  }
  // Either store would sometimes choose the other order, by a guess at how many fulfil the test; we have counted. What
  // is read as an expression cannot be looked up in an index. Under one key both orders are the same.
  const byAge = order === 'age' || isOneKey(lead)
  return query.orderBy(byAge ? 'f.record_id' : sql`f.record_id || ''`, 'desc').limit(place.limit + 1)
}

async function countUpTo(db: Db, place: Shelves, test: FieldTest, most: number): Promise<number> {
  const rows = onShelves(db, place, test, sql.ref('f.sort_key')).select('f.path').limit(most).as('found')
  const counted = await db
    .selectFrom(rows)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return counted?.count ?? 0
}

function onShelves(db: Db, { shelves, wedge, cursor }: Shelves, test: FieldTest, key: Expression<unknown>) {
  let query = db
    .selectFrom('record_fields as f')
    .where('f.shelf', 'in', shelves)
    .where('f.path', '=', test.path)
    .where(keyFulfils(key, test.conditions))
  if (wedge !== undefined) query = query.where('f.wedge', '=', wedge)
  if (cursor !== undefined) query = query.where('f.record_id', '<', cursor)
  return query
}

/** Whether the record of an id fulfils a test, by its own fields. */
export function recordFulfils(id: 'records.id' | 'f.record_id', test: FieldTest): Expression<SqlBool> {
  const field = sql`select 1 from record_fields as p where p.record_id = ${sql.ref(id)} and p.path = ${test.path}`
  if (test.present) return sql<SqlBool>`exists (${field} and ${keyFulfils(sql.ref('p.sort_key'), test.conditions)})`
  const ruledOut = test.conditions.map((condition) =>
    condition.op === 'ne' ? sql<SqlBool>`p.sort_key = ${sortKey(condition.value)}` : ALWAYS,
  )
  return sql<SqlBool>`not exists (${field} and (${sql.join(ruledOut, sql` or `)}))`
}

const demandsPresence = ({ op, value }: Condition) => op !== 'ne' && (op !== 'exists' || value)

/** The lower, the fewer rows: one key, some keys, between two bounds, beyond one, all. */
function breadth({ conditions }: FieldTest): number {
  const ops = new Set(conditions.map((condition) => condition.op))
  if (ops.has('eq')) return ONE_KEY
  if (ops.has('in')) return 1
  const bounds = Number(ops.has('gt') || ops.has('gte')) + Number(ops.has('lt') || ops.has('lte'))
  return 4 - bounds
}

const ONE_KEY = 0
const isOneKey = (test: FieldTest) => breadth(test) === ONE_KEY

const ALWAYS = sql<SqlBool>`1 = 1`
const NEVER = sql<SqlBool>`1 = 0`

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
