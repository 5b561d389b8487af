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

/**
 * The test to start from. Few rows fulfil it: then they are gathered from the index and tried by the other tests. Null
 * when each test alone is fulfilled by many or by absence: then a page is met soon by walking the newest records.
 */
export async function leadingTest(db: Db, place: Shelves, tests: readonly FieldTest[]): Promise<FieldTest | null> {
  const present = tests.filter((test) => test.present).toSorted((a, b) => breadth(a) - breadth(b))
  const [first] = present
  if (!first || (tests.length === 1 && breadth(first) === ONE_KEY)) return first ?? null
  const counts = await Promise.all(present.map((test) => countUpTo(db, place, test, MANY)))
  const least = Math.min(...counts)
  if (least < MANY) return present[counts.indexOf(least)] ?? first
  // One key is in the order of ids, so it can be walked too; and without a wedge there is no order to walk in.
  return breadth(first) === ONE_KEY || place.wedge === undefined ? first : null
}

const MANY = 10_000

/** The ids of the newest records that fulfil all tests, read from the index alone. */
export function matchingIds(db: Db, place: Shelves, lead: FieldTest, tests: readonly FieldTest[]) {
  let query = onShelves(db, place, lead).select('f.record_id')
  for (const test of tests) {
    if (test !== lead) query = query.where(recordFulfils('f.record_id', test))
  }
  // Under one key the index is in the order of ids. Otherwise it is not, and a planner that hopes to meet a page's worth
  // of matches by walking all ids in order is kept from it: when nothing matches, it would walk them all.
  return query
    .orderBy(breadth(lead) === ONE_KEY ? 'f.record_id' : sql`f.record_id || ''`, 'desc')
    .limit(place.limit + 1)
}

async function countUpTo(db: Db, place: Shelves, test: FieldTest, most: number): Promise<number> {
  const rows = onShelves(db, place, test).select('f.path').limit(most).as('found')
  const counted = await db
    .selectFrom(rows)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return counted?.count ?? 0
}

function onShelves(db: Db, { shelves, wedge, cursor }: Shelves, test: FieldTest) {
  let query = db
    .selectFrom('record_fields as f')
    .where('f.shelf', 'in', shelves)
    .where('f.path', '=', test.path)
    .where(keyFulfils('f.sort_key', test.conditions))
  if (wedge !== undefined) query = query.where('f.wedge', '=', wedge)
  if (cursor !== undefined) query = query.where('f.record_id', '<', cursor)
  return query
}

/** Whether the record of an id fulfils a test, by its own fields. */
export function recordFulfils(id: 'records.id' | 'f.record_id', test: FieldTest): Expression<SqlBool> {
  const field = sql`select 1 from record_fields as p where p.record_id = ${sql.ref(id)} and p.path = ${test.path}`
  if (test.present) return sql<SqlBool>`exists (${field} and ${keyFulfils('p.sort_key', test.conditions)})`
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

const ALWAYS = sql<SqlBool>`1 = 1`
const NEVER = sql<SqlBool>`1 = 0`

function keyFulfils(column: 'f.sort_key' | 'p.sort_key', conditions: readonly Condition[]): Expression<SqlBool> {
  const key = sql.ref(column)
  return sql<SqlBool>`${sql.join(
    conditions.map((condition) => comparison(key, condition)),
    sql` and `,
  )}`
}

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
      return bounded(key, condition.op, condition.value)
  }
}

/** Keys of one type begin with one letter, and order exists only within a type. */
function bounded(key: Expression<unknown>, op: 'gt' | 'gte' | 'lt' | 'lte', value: string | number) {
  const [least, beyond] = typeof value === 'number' ? ['n', 'o'] : ['s', 't']
  const bound = sql`${key} ${COMPARE[op]} ${sortKey(value)}`
  return op === 'gt' || op === 'gte'
    ? sql<SqlBool>`${bound} and ${key} < ${beyond}`
    : sql<SqlBool>`${bound} and ${key} >= ${least}`
}

const COMPARE = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
