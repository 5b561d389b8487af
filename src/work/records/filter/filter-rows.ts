import { setImmediate } from 'node:timers/promises'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isPostgres } from '../../../platform/store/dialect.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { RecordRow } from '../../../platform/store/tables.ts'
import { type CollectionPage, hashCollection } from './collection.ts'
import { type ColumnsByPath, listColumns } from './column-rows.ts'
import { type FieldTest, hasSingleKey, keyMatches, recordIsAmongMatches, recordMatches } from './condition-rows.ts'
import { toSortKey } from './fields.ts'

/** The newest records of a collection that pass all tests, one more than the page. The README describes the two ways. */
export async function listFilteredRecords(
  db: Db,
  page: CollectionPage,
  tests: readonly FieldTest[],
): Promise<RecordRow[]> {
  const collectionHash = hashCollection(page.projectId, page.collection)
  const selective = await findSelectiveTest(db, collectionHash, tests)
  if (selective) return readRecords(db, page, idsByIndex(db, collectionHash, page, selective, tests))
  const columns = await listColumns(db, collectionHash)
  const found: RecordRow[] = []
  for (let cursor = page.cursor; ; ) {
    // PostgreSQL needs no steps: it stops when the page is full, and other requests do not wait for it.
    const from = isPostgres(db) ? undefined : await findLastIdOfStep(db, collectionHash, cursor)
    const step = { ...page, limit: page.limit - found.length, cursor, from }
    found.push(...(await readRecords(db, step, idsByScan(collectionHash, step, tests, columns))))
    if (from === undefined || found.length > page.limit) return found
    cursor = from
    await setImmediate()
  }
}

async function readRecords(db: Db, page: CollectionPage, ids: Expression<unknown>): Promise<RecordRow[]> {
  return (await selectRecords(page, ids).execute(db)).rows
}

/** At most this many records are scanned before other requests get their turn: about 6 ms on SQLite. */
const MAX_RECORDS_PER_STEP = 20_000

/** The id at which the next step of a scan ends; undefined for the last step. */
async function findLastIdOfStep(db: Db, collectionHash: string, cursor?: string): Promise<string | undefined> {
  const newest = db
    .selectFrom('record_columns')
    .select('record_id')
    .where('collection_hash', '=', collectionHash)
    .orderBy('record_id', 'desc')
  const rest = cursor === undefined ? newest : newest.where('record_id', '<', cursor)
  const last = await rest
    .offset(MAX_RECORDS_PER_STEP - 1)
    .limit(1)
    .executeTakeFirst()
  return last?.record_id
}

/**
 * The records of the newest ids, each looked up by its id. `cross join` makes SQLite keep that order. The expression
 * `project_id || ''` keeps PostgreSQL, which has no statistics of a table that was just filled, from searching by project.
 */
export function selectRecords({ projectId, limit }: CollectionPage, ids: Expression<unknown>): RawBuilder<RecordRow> {
  return sql`select records.* from (${ids} order by record_id desc limit ${limit + 1}) as newest
    cross join records where records.id = newest.record_id and records.project_id || '' = ${projectId}
    order by newest.record_id desc`
}

/** The test that the fewest records pass, or undefined if each test is passed by more than `MAX_INDEX_ROWS` records. */
export async function findSelectiveTest(
  db: Db,
  collectionHash: string,
  tests: readonly FieldTest[],
): Promise<FieldTest | undefined> {
  const candidates = tests.filter(({ mustExist }) => mustExist)
  if (candidates.length === 0) return undefined
  const counts = candidates.map(
    (test, n) => sql`select ${sql.lit(n)} as n, count(*) as count from (
      select 1 from ${matchingFields(db, collectionHash, test)} limit ${sql.lit(MAX_INDEX_ROWS)}) as matches`,
  )
  const { rows } = await sql<{ n: number; count: number }>`${sql.join(counts, sql` union all `)}`.execute(db)
  const [fewest] = rows.toSorted((a, b) => a.count - b.count)
  return fewest && fewest.count < MAX_INDEX_ROWS ? candidates[fewest.n] : undefined
}

const MAX_INDEX_ROWS = 3_000

/** Finds the records by the index of one test and looks up the other fields of each. */
export function idsByIndex(
  db: Db,
  collectionHash: string,
  page: CollectionPage,
  selective: FieldTest,
  tests: readonly FieldTest[],
): RawBuilder<unknown> {
  const others = tests.filter((test) => test !== selective).map((test) => recordMatches('f.record_id', test))
  const ids = sql`select f.record_id from ${matchingFields(db, collectionHash, selective)} ${inPage('f', page)} ${andAll(others)}`
  if (hasSingleKey(selective)) return ids
  // Sorted by an expression, because PostgreSQL might otherwise read all records in the order of the primary key.
  const newest = sql`${ids} order by f.record_id || '' desc limit ${page.limit + 1}`
  return sql`select record_id from (${newest}) as matches`
}

/** Reads one row of `record_columns` for each record of the step, newest first, until the page is full. */
export function idsByScan(
  collectionHash: string,
  page: CollectionPage,
  tests: readonly FieldTest[],
  columns: ColumnsByPath,
): RawBuilder<unknown> {
  const testsWithColumn = tests.filter(({ path }) => columns.has(path))
  const testsWithoutColumn = tests.filter(({ path }) => !columns.has(path))
  const all = [
    ...testsWithColumn.map((test) => keyMatches(sql.ref(`c.c${columns.get(test.path)}`), test)),
    ...testsWithoutColumn.map((test) => recordIsAmongMatches('c.record_id', collectionHash, test)),
  ]
  // `is true` makes PostgreSQL keep the order of the tests; otherwise it would test equality last.
  return sql`select c.record_id from record_columns as c where c.collection_hash = ${collectionHash} ${inPage('c', page)}
    and (${sql.join(all, sql` and `)}) is true`
}

function matchingFields(db: Db, collectionHash: string, test: FieldTest): RawBuilder<unknown> {
  return sql`${fieldRows(db, collectionHash, test)} where f.collection_hash = ${collectionHash} and f.path = ${test.path}
    and ${keyMatches(sql.ref('f.sort_key'), test)}`
}

/** Without statistics PostgreSQL would read all rows of the path for a list of keys, so it looks up each key. */
function fieldRows(db: Db, collectionHash: string, { path, conditions }: FieldTest): RawBuilder<unknown> {
  const list = conditions.find(({ op }) => op === 'in')
  if (list?.op !== 'in' || !isPostgres(db)) return sql`record_fields as f`
  const keys = [...new Set(list.value.map(toSortKey))]
  return sql`unnest(${keys}::text[]) as listed(key) cross join lateral (select * from record_fields
    where collection_hash = ${collectionHash} and path = ${path} and sort_key = listed.key offset 0) as f`
}

function inPage(table: string, { wedge, cursor, from }: CollectionPage): RawBuilder<unknown> {
  const conditions: Expression<SqlBool>[] = []
  if (wedge !== undefined) conditions.push(sql`${sql.ref(`${table}.wedge`)} = ${wedge}`)
  if (cursor !== undefined) conditions.push(sql`${sql.ref(`${table}.record_id`)} < ${cursor}`)
  if (from !== undefined) conditions.push(sql`${sql.ref(`${table}.record_id`)} >= ${from}`)
  return andAll(conditions)
}

const andAll = (conditions: readonly Expression<SqlBool>[]) =>
  sql`${sql.join(
    conditions.map((condition) => sql`and ${condition}`),
    sql` `,
  )}`
