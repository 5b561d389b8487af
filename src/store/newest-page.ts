import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Newest first, after the cursor, and one row more than the page, which shows that another page follows. Ids are time-ordered. */
export function listNewestPage<Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  id = 'id',
): Promise<Row[]> {
  const rows = cursor === undefined ? query : query.where(sql.ref(id), '<', cursor)
  return rows
    .orderBy(sql.ref(id), 'desc')
    .limit(limit + 1)
    .execute()
}
