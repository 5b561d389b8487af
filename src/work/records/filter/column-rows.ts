import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db, Store } from '../../../platform/store/store.ts'
import type { RecordPathRow } from '../../../platform/store/tables.ts'
import type { RecordField } from './fields.ts'

/** How many paths of a collection have a column. The other paths are in `record_fields` only. */
export const COLUMN_COUNT = 64

/** The number of the column of each path that has one. */
export type ColumnsByPath = ReadonlyMap<string, number>

export async function listColumns(db: Db, collectionHash: string): Promise<ColumnsByPath> {
  return new Map((await selectPaths(db, { collectionHash })).map(({ path, n }) => [path, n]))
}

/** Gives each new path a permanent column while free columns exist, and returns the columns of all paths. */
export async function assignColumns(
  store: Store,
  collectionHash: string,
  fields: readonly RecordField[],
): Promise<ColumnsByPath> {
  for (;;) {
    const columns = await listColumns(store.db, collectionHash)
    const added = chooseColumns(columns, fields)
    if (added.length === 0) return columns
    const rows = added.map(({ path, n }) => ({ collection_hash: collectionHash, path, n }))
    // A concurrent writer may have used the column for another path, or given the path another column: read again.
    await store.transact((db) =>
      db
        .insertInto('record_paths')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    )
  }
}

const selectPaths = prepareQuery<{ collectionHash: string }, Pick<RecordPathRow, 'path' | 'n'>>((db, arg) =>
  db.selectFrom('record_paths').select(['path', 'n']).where('collection_hash', '=', arg('collectionHash')),
)

/** The paths are sorted, so that concurrent writers insert in the same order and cannot deadlock. */
function chooseColumns(columns: ColumnsByPath, fields: readonly RecordField[]): { path: string; n: number }[] {
  const used = new Set(columns.values())
  const free = Array.from({ length: COLUMN_COUNT }, (_, n) => n).filter((n) => !used.has(n))
  const newPaths = newPathsWithinLimit(columns, fields.map(({ path }) => path).toSorted())
  return free.slice(0, newPaths.length).map((n, i) => ({ path: newPaths[i] ?? '', n }))
}

/** Limits the columns of each nested object: an object that is used as a map must not take all columns. */
function newPathsWithinLimit(columns: ColumnsByPath, paths: readonly string[]): string[] {
  const siblings = new Map<string, number>()
  const count = (path: string) => siblings.set(parentOf(path), (siblings.get(parentOf(path)) ?? 0) + 1)
  for (const path of columns.keys()) count(path)
  const newPaths: string[] = []
  for (const path of paths) {
    const isOverLimit = parentOf(path) !== '' && (siblings.get(parentOf(path)) ?? 0) >= MAX_SIBLINGS
    if (isOverLimit || columns.has(path)) continue
    newPaths.push(path)
    count(path)
  }
  return newPaths
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('.')))

const MAX_SIBLINGS = 16
