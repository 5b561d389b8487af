import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../store/store.ts'
import type { RecordRow } from '../../store/tables.ts'
import type { CollectionPage } from './collection.ts'
import { selectNewestRecords } from './newest-records.ts'
import { columnsMatch, type FieldTest, recordInMatches } from './condition-sql.ts'

/**
 * The statement for the newest records that fulfil all tests, where many fulfil each: the rows of columns are read by age
 * until a page is full. That is soon when the tests agree, and when hardly a record fulfils all of them, each row is still
 * read but once. As the operand of `is` the tests stay in their order; PostgreSQL would put what must be equal to something
 * last.
 */
export function planByScan(db: Db, place: CollectionPage, tests: readonly FieldTest[]): RawBuilder<RecordRow> {
  const { shelf, columns, wedge, cursor } = place
  const ids = sql`select record_id from record_columns as c where c.shelf = ${shelf}
    ${wedge === undefined ? sql`` : sql`and c.wedge = ${wedge}`}
    ${cursor === undefined ? sql`` : sql`and c.record_id < ${cursor}`}
    and (${columnsMatch(columns, tests, (test) => recordInMatches('c.record_id', shelf, test))}) is true`
  return selectNewestRecords(db, place, ids)
}
