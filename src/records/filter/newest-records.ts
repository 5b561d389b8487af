import { type Expression, type RawBuilder, sql } from 'kysely'
import { isPostgres } from '../../store/dialect.ts'
import type { Db } from '../../store/store.ts'
import type { RecordRow } from '../../store/tables.ts'

/**
 * The records of the newest ids, one more than a page, each looked up by its id. PostgreSQL would choose by its guess at
 * the number of rows, and of a table that was just filled it knows nothing: it would read a whole collection for a few
 * records. `lateral` leaves it no other way.
 */
export function selectNewestRecords(
  db: Db,
  { projectId, limit }: { projectId: string; limit: number },
  ids: Expression<unknown>,
): RawBuilder<RecordRow> {
  const newest = sql`(${ids} order by record_id desc limit ${limit + 1}) as newest`
  // As an expression, because SQLite would look the project up in an index instead of the ids.
  const record = sql`select ${COLUMNS} from records where coalesce(project_id, '') = ${projectId}`
  return isPostgres(db)
    ? sql`select r.* from ${newest} cross join lateral (${record} and id = newest.record_id offset 0) as r
        order by newest.record_id desc`
    : sql`${record} and id in (select record_id from ${newest}) order by id desc`
}

/** By name, because inside a transaction a kept statement cannot be planned again when the table has got one more. */
const COLUMNS = sql.raw('id, project_id, wedge, collection, key, value, version, created_at, updated_at')

/**
 * PostgreSQL would rather read all rows and sort them, by its guess at the number of those that fit. Here it may not where
 * an index has the order, and it may keep the records that a path has rows of in memory.
 */
export function withIndexOrder<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return read(db)
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('work_mem', '64MB', true)`.execute(tx)
    return read(tx)
  })
}
