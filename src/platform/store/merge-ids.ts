import { type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/** Which ids are read; an undefined bound limits nothing. */
export interface IdBounds {
  after?: string | undefined
  before?: string | undefined
  upTo?: string | undefined
}

/**
 * The first ids of several queries together, in order. Each of them reads a range of an index until it has enough, so that
 * no index is needed for all of their rows.
 */
export function mergeIds<Table extends keyof Tables>(
  db: Db,
  parts: readonly SelectQueryBuilder<Tables, Table, { id: string }>[],
  bounds: IdBounds,
  order: 'asc' | 'desc',
  limit: number,
) {
  const ids = parts.map((part) =>
    db.selectFrom(limitIds(part, bounds).orderBy(sql.ref('id'), order).limit(limit).as('ids')).select('ids.id'),
  )
  const all = ids.reduce((union, next) => union.unionAll(next))
  return db.selectFrom(all.as('ids')).select('ids.id').orderBy('ids.id', order).limit(limit)
}

function limitIds<Table extends keyof Tables>(
  part: SelectQueryBuilder<Tables, Table, { id: string }>,
  { after, before, upTo }: IdBounds,
) {
  const id = sql.ref<string>('id')
  let ids = part
  if (after !== undefined) ids = ids.where(id, '>', after)
  if (before !== undefined) ids = ids.where(id, '<', before)
  return upTo === undefined ? ids : ids.where(id, '<=', upTo)
}
