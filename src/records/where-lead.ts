import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { SHAPE_PATH, sortKey } from './fields.ts'
import { shapesWithout } from './shapes.ts'
import { type FieldTest, keyFulfils, recordFulfils } from './where-sql.ts'

/** A place in the index: the shelves that a collection has in the projects of the scope. */
export interface Shelves {
  shelves: string[]
  wedge?: string | undefined
  cursor?: string | undefined
  limit: number
}

/** Rows of the index whose records fulfil a test. */
interface Stretch {
  path: string
  keys: (key: Expression<unknown>) => Expression<SqlBool>
  /** All have the same key, so they lie in the order of age anyway. */
  oneKey: boolean
}

/** The test to start from, with all stretches that fulfil it and the order in which each is read. */
export interface Lead {
  test: FieldTest
  /** By key: all of the stretch are gathered. By age: the newest are tried, until a page is full. */
  stretches: (Stretch & { order: 'key' | 'age' })[]
  /** How many rows they have; `MANY` for more. */
  count: number
}

/**
 * What few records fulfil is gathered, then tried by the other tests; what many fulfil is met soon from the newest on.
 * Null when each test is fulfilled by absence, of records with too many shapes.
 */
export async function leadingTest(db: Db, place: Shelves, tests: readonly FieldTest[]): Promise<Lead | null> {
  const present = tests.filter((test) => test.present).toSorted((a, b) => breadth(a) - breadth(b))
  const [first] = present
  if (first && tests.length === 1 && isOneKey(first)) {
    return { test: first, stretches: [{ ...stretchOf(first), order: 'key' }], count: MANY }
  }
  const byPresence = fewest(await Promise.all(present.map((test) => weigh(db, place, test, [stretchOf(test)]))))
  if (byPresence && byPresence.count < MANY) return byPresence
  const byAbsence = await leadByAbsence(db, place, tests)
  return byAbsence && (!byPresence || byAbsence.count < MANY) ? byAbsence : byPresence
}

const MANY = 10_000

/** The ids of the newest records that fulfil all tests, read from the index alone. */
export function matchingIds(db: Db, place: Shelves, lead: Lead, tests: readonly FieldTest[]): Expression<unknown> {
  // A shape may have changed since it was read, so what it promises is tried again.
  const others = tests.filter((test) => test !== lead.test || !test.present)
  const parts = lead.stretches.map((stretch, n) => {
    let query = onShelves(db, place, stretch, stretch.order === 'key' ? sql.ref('f.sort_key') : sql`(f.sort_key || '')`)
    for (const test of others) query = query.where(recordFulfils('f.record_id', test))
    // Either store would sometimes choose the other order, by a guess at how many fulfil the test; we have counted. What
    // is read as an expression cannot be looked up in an index. Under one key both orders are the same.
    const byAge = stretch.order === 'age' || stretch.oneKey
    const ids = query.select('f.record_id').orderBy(byAge ? 'f.record_id' : sql`f.record_id || ''`, 'desc')
    return sql`select record_id from (${ids.limit(place.limit + 1)}) as ${sql.ref(`part${n}`)}`
  })
  return parts.length > 0 ? sql.join(parts, sql` union all `) : NOTHING
}

const NOTHING = sql`select id from records where 1 = 0`

async function leadByAbsence(db: Db, place: Shelves, tests: readonly FieldTest[]): Promise<Lead | null> {
  const absent = tests.filter((test) => !test.present)
  if (absent.length === 0) return null
  const paths = absent.map(({ path }) => path)
  const shapes = await shapesWithout(db, place.shelves, paths)
  if (!shapes) return null
  return fewest(
    await Promise.all(
      absent.map((test) => weigh(db, place, test, [...besides(test), ...ofShapes(shapes.get(test.path) ?? [])])),
    ),
  )
}

async function weigh(db: Db, place: Shelves, test: FieldTest, stretches: readonly Stretch[]): Promise<Lead> {
  const counts = await Promise.all(stretches.map((stretch) => countUpTo(db, place, stretch, MANY)))
  const ordered = stretches.map((stretch, n) => {
    const few = (counts[n] ?? 0) < MANY
    return { ...stretch, order: few || stretch.oneKey ? ('key' as const) : ('age' as const) }
  })
  const count = counts.reduce((sum, more) => sum + more, 0)
  return { test, stretches: ordered, count: Math.min(count, MANY) }
}

/** The first of those with the least. */
function fewest(leads: readonly Lead[]): Lead | null {
  const least = Math.min(...leads.map(({ count }) => count))
  return leads.find(({ count }) => count === least) ?? null
}

function stretchOf(test: FieldTest): Stretch {
  return { path: test.path, keys: (key) => keyFulfils(key, test.conditions), oneKey: isOneKey(test) }
}

/** Before and behind a key that is ruled out; none when every key is. */
function besides({ path, conditions }: FieldTest): Stretch[] {
  const [condition, ...more] = conditions
  if (condition?.op !== 'ne' || more.length > 0) return []
  const out = sortKey(condition.value)
  return [
    { path, keys: (key) => sql<SqlBool>`${key} < ${out}`, oneKey: false },
    { path, keys: (key) => sql<SqlBool>`${key} > ${out}`, oneKey: false },
  ]
}

function ofShapes(shapes: readonly string[]): Stretch[] {
  if (shapes.length === 0) return []
  const keys = (key: Expression<unknown>) => sql<SqlBool>`${key} in (${sql.join(shapes)})`
  return [{ path: SHAPE_PATH, keys, oneKey: shapes.length === 1 }]
}

async function countUpTo(db: Db, place: Shelves, stretch: Stretch, most: number): Promise<number> {
  const rows = onShelves(db, place, stretch, sql.ref('f.sort_key')).select('f.path').limit(most).as('found')
  const counted = await db
    .selectFrom(rows)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return counted?.count ?? 0
}

function onShelves(db: Db, { shelves, wedge, cursor }: Shelves, { path, keys }: Stretch, key: Expression<unknown>) {
  let query = db
    .selectFrom('record_fields as f')
    .where('f.shelf', 'in', shelves)
    .where('f.path', '=', path)
    .where(keys(key))
  if (wedge !== undefined) query = query.where('f.wedge', '=', wedge)
  if (cursor !== undefined) query = query.where('f.record_id', '<', cursor)
  return query
}

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
