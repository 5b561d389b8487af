import { type RawBuilder, sql } from 'kysely'
import { isPostgres } from '../../store/dialect.ts'
import type { Db } from '../../store/store.ts'
import type { RecordRow } from '../../store/tables.ts'
import { toSortKey } from './fields.ts'
import type { CollectionPage } from './collection.ts'
import { selectNewestRecords } from './newest-records.ts'
import { broadTests, type FilterSample } from './sample.ts'
import { columnsMatch, type FieldTest, sortKeyMatches, recordMatches } from './condition-sql.ts'

/** The only test, when its rows lie in the order of age: then nothing has to be weighed. */
export function findSingleTest(tests: readonly FieldTest[]): FieldTest | null {
  const [only, ...more] = tests
  return only && more.length === 0 && hasSingleKey(only) ? only : null
}

/** The test to go by: the one that the fewest records fulfil. Null when many fulfil each. */
export async function chooseLeadingTest(
  db: Db,
  place: CollectionPage,
  glance: FilterSample,
): Promise<FieldTest | null> {
  const broad = broadTests(glance)
  const others = glance.tests.filter((test) => test.present && !broad.has(test))
  const counts = await countsUpTo(db, place, others, MAX_INDEX_ROWS)
  const least = Math.min(...counts)
  return least < MAX_INDEX_ROWS ? (others[counts.indexOf(least)] ?? null) : null
}

const MAX_INDEX_ROWS = 3_000

/** The statement for the newest records that fulfil the leading test by the rows of the index, the others by their columns. */
export function planByIndex(
  db: Db,
  place: CollectionPage,
  lead: FieldTest,
  tests: readonly FieldTest[],
): RawBuilder<RecordRow> {
  const others = tests.filter((test) => test !== lead)
  const rows = sql`select f.record_id from ${fieldRowsOf(db, place, lead)}
    ${place.cursor === undefined ? NOTHING : sql`and f.record_id < ${place.cursor}`}
    ${others.length === 0 ? NOTHING : sql`and ${columnsOfRowFulfil(place, others)}`}`
  if (hasSingleKey(lead)) return selectNewestRecords(db, place, rows)
  // A store would sometimes read by age what lies together by key; to sort by an expression is in no index.
  const sorted = sql`${rows} order by f.record_id || '' desc limit ${place.limit + 1}`
  return selectNewestRecords(db, place, sql`select record_id from (${sorted}) as gathered`)
}

type Sql = RawBuilder<unknown>
const NOTHING: Sql = sql``

/** All rows have the same key, so they lie in the order of age. */
const hasSingleKey = ({ conditions }: FieldTest) => conditions.some(({ op }) => op === 'eq')

/** The offset keeps PostgreSQL from making a join of it, which would read all columns for a few records. */
function columnsOfRowFulfil({ columns }: CollectionPage, tests: readonly FieldTest[]): Sql {
  return sql`exists (select 1 from record_columns as c where c.shelf = f.shelf and c.record_id = f.record_id
    and ${columnsMatch(columns, tests, (test) => recordMatches('c.record_id', test))} limit 1 offset 0)`
}

/** Whatever the page: to count only what is older than a cursor could mean to read all that is not. */
async function countsUpTo(db: Db, place: CollectionPage, tests: readonly FieldTest[], most: number): Promise<number[]> {
  if (tests.length === 0) return []
  const counts = tests.map(
    (test, n) =>
      sql`select ${sql.lit(n)} as n, count(*) as count from (select 1 from ${fieldRowsOf(db, place, test)} limit ${most}) as found`,
  )
  const { rows } = await sql<{ count: number }>`${sql.join(counts, sql` union all `)} order by n`.execute(db)
  return rows.map(({ count }) => count)
}

/** The rows of the index by which records fulfil a test. */
function fieldRowsOf(db: Db, { shelf, wedge }: CollectionPage, test: FieldTest): Sql {
  return sql`${sourceOf(db, shelf, test)} where f.shelf = ${shelf} and f.path = ${test.path}
    and ${sortKeyMatches(sql.ref('f.sort_key'), test)} ${wedge === undefined ? NOTHING : sql`and f.wedge = ${wedge}`}`
}

/**
 * Of a table that was just filled PostgreSQL knows nothing, and for a choice of keys it would read the whole path. So it
 * is told to look up each of them.
 */
function sourceOf(db: Db, shelf: string, { path, conditions }: FieldTest): Sql {
  const choice = conditions.find(({ op }) => op === 'in')
  if (choice?.op !== 'in' || !isPostgres(db)) return sql`record_fields as f`
  const keys = [...new Set(choice.value.map(toSortKey))]
  return sql`unnest(${keys}::text[]) as chosen(key) cross join lateral (
    select * from record_fields where shelf = ${shelf} and path = ${path} and sort_key = chosen.key offset 0) as f`
}
