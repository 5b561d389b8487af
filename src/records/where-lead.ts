import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { SHAPE_PATH, sortKey } from './fields.ts'
import { shapesWithout } from './shapes.ts'
import { type FieldTest, recordFulfils, type Stretch, stretchOf } from './where-sql.ts'

/** A place in the index: the shelf of a collection in a project. */
export interface Shelf {
  projectId: string
  shelf: string
  wedge?: string | undefined
  cursor?: string | undefined
  limit: number
}

/** A test that few records fulfil, with all stretches of those that do. */
export interface Lead {
  test: FieldTest
  stretches: readonly Stretch[]
  /** How many rows they have. */
  count: number
}

/** The test that the fewest records fulfil; null when many fulfil each, or so many shapes exist that nobody knows. */
export async function leadingTest(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Lead | null> {
  const present = tests.filter((test) => test.present)
  // Alone, it need not be counted: its rows are in order, many or few.
  if (tests.length === 1 && present.some((test) => stretchOf(test).oneKey)) return null
  const byPresence = fewest(await Promise.all(present.map((test) => weigh(db, place, test, [stretchOf(test)]))))
  return byPresence ?? leadByAbsence(db, place, tests)
}

const MANY = 3_000

/** The ids of the newest records that fulfil all tests: those of the lead are gathered and tried by the other tests. */
export function gatheredIds(db: Db, place: Shelf, lead: Lead, tests: readonly FieldTest[]): Expression<unknown> {
  // A shape may have changed since it was read, so what it promises is tried again.
  const others = tests.filter((test) => test !== lead.test || !test.present)
  const parts = lead.stretches.map((stretch, n) => {
    let query = onShelf(db, place, stretch, sql.ref('f.sort_key'))
    if (place.cursor !== undefined) query = query.where('f.record_id', '<', place.cursor)
    for (const test of others) query = query.where(recordFulfils('f.record_id', test))
    // Either store would sometimes read by age what lies together by key; to sort by an expression is in no index.
    const ids = query.select('f.record_id').orderBy(sql`f.record_id || ''`, 'desc')
    return sql`select record_id from (${ids.limit(place.limit + 1)}) as ${sql.ref(`part${n}`)}`
  })
  return parts.length > 0 ? sql.join(parts, sql` union all `) : NOTHING
}

const NOTHING = sql`select record_id from record_fields where 1 = 0`

async function leadByAbsence(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Lead | null> {
  const absent = tests.filter((test) => !test.present)
  if (absent.length === 0) return null
  const paths = absent.map(({ path }) => path)
  const shapes = await shapesWithout(db, place.shelf, paths)
  if (!shapes) return null
  return fewest(
    await Promise.all(
      absent.map((test) => weigh(db, place, test, [...besides(test), ...ofShapes(shapes.get(test.path) ?? [])])),
    ),
  )
}

async function weigh(db: Db, place: Shelf, test: FieldTest, stretches: readonly Stretch[]): Promise<Lead> {
  const counts = await Promise.all(stretches.map((stretch) => countUpTo(db, place, stretch, MANY)))
  return { test, stretches, count: counts.reduce((sum, more) => sum + more, 0) }
}

/** The first of those with the least. */
function fewest(leads: readonly Lead[]): Lead | null {
  const least = Math.min(...leads.map(({ count }) => count))
  return leads.find(({ count }) => count === least && count < MANY) ?? null
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

/** Whatever the page: to count only what is older than a cursor could mean to read all that is not. */
async function countUpTo(db: Db, place: Shelf, stretch: Stretch, most: number): Promise<number> {
  const rows = onShelf(db, place, stretch, sql.ref('f.sort_key')).select('f.path').limit(most).as('found')
  const counted = await db
    .selectFrom(rows)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return counted?.count ?? 0
}

function onShelf(db: Db, { shelf, wedge }: Shelf, { path, keys }: Stretch, key: Expression<unknown>) {
  let query = db
    .selectFrom('record_fields as f')
    .where('f.shelf', '=', shelf)
    .where('f.path', '=', path)
    .where(keys(key))
  if (wedge !== undefined) query = query.where('f.wedge', '=', wedge)
  return query
}
