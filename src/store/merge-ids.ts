import { type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/**
 * The first ids of several queries together, in order. Each of them reads a range of an index until it has enough, so that
 * no index is needed for all of their rows.
 */
export function mergeIds<Table extends keyof Tables>(
  db: Db,
  parts: readonly SelectQueryBuilder<Tables, Table, { id: string }>[],
  order: 'asc' | 'desc',
  limit: number,
) {
  const ids = parts.map((part) =>
    db.selectFrom(part.orderBy(sql.ref('id'), order).limit(limit).as('ids')).select('ids.id'),
  )
  const all = ids.reduce((union, next) => union.unionAll(next))
  return db.selectFrom(all.as('ids')).select('ids.id').orderBy('ids.id', order).limit(limit)
}
