import { type RawBuilder, sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import type { Db } from '../store/store.ts'
import type { Records } from '../store/tables.ts'
import type { Shelf } from './where-lead.ts'
import { recordsOfNewest } from './where-newest.ts'
import { columnsFulfil, type FieldTest } from './where-sql.ts'

/**
 * The newest records that fulfil all tests, where many fulfil each: the rows of columns are read by age until a page is
 * full. That is soon when the tests agree, and when hardly a record fulfils all of them, each row is still read but once.
 */
export async function scannedRecords(db: Db, place: Shelf, tests: readonly FieldTest[]): Promise<Records[]> {
  const { rows } = await byAge(db, (planned) => scan(planned, place, tests).execute(planned))
  return rows
}

/** The statement for it. */
export function scan(db: Db, place: Shelf, tests: readonly FieldTest[]): RawBuilder<Records> {
  const { shelf, columns, wedge, cursor } = place
  const ids = sql`select record_id from record_columns as c where c.shelf = ${shelf}
    ${wedge === undefined ? sql`` : sql`and c.wedge = ${wedge}`}
    ${cursor === undefined ? sql`` : sql`and c.record_id < ${cursor}`}
    and ${columnsFulfil({ alias: 'c', columns }, tests)}`
  return recordsOfNewest(db, place, ids)
}

/** PostgreSQL would rather read all rows and sort them, by its guess at the number of those that fit. Here it may not. */
export function byAge<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return read(db)
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true)`.execute(tx)
    return read(tx)
  })
}
