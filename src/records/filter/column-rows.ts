import { hash } from 'node:crypto'
import { prepareQuery } from '../../store/prepared-query.ts'
import type { Db, Store } from '../../store/store.ts'
import type { RecordPathRow } from '../../store/tables.ts'
import type { RecordField } from './fields.ts'

/** How many paths of a collection have a column. What the others hold is found in `record_fields` only. */
export const COLUMN_COUNT = 64

/** The column of each path of a shelf that has one. */
export type ColumnsByPath = ReadonlyMap<string, number>

export async function listColumns(db: Db, shelf: string): Promise<ColumnsByPath> {
  return new Map((await selectPaths(db, { shelf })).map(({ path, n }) => [path, n]))
}

/** The same, after the paths that are new to the shelf got a column each, for good, while there were some left. */
export async function assignColumns(
  store: Store,
  shelf: string,
  fields: readonly RecordField[],
): Promise<ColumnsByPath> {
  for (;;) {
    const columns = await listColumns(store.db, shelf)
    const newcomers = chooseColumns(columns, fields)
    if (newcomers.length === 0) return columns
    const rows = newcomers.map(({ path, n }) => ({ shelf, path, n }))
    // Another writer may have taken a column for another path, or given the path another one: then we look again.
    await store.transact((db) =>
      db
        .insertInto('record_paths')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    )
  }
}

/**
 * What a column holds of a sort key: equal keys stay equal, and all but long strings keep their order. A row is read for
 * each record, so long strings are told by a hash; nobody orders by them often.
 */
export function toColumnKey(sortKey: string): string {
  if (sortKey.startsWith('s') && Buffer.byteLength(sortKey) > MAX_COLUMN_KEY_BYTES)
    return LONG_TEXT_KEYS.from + shortHash(sortKey)
  return toBoundKey(sortKey)
}

/** The key of a bound, which the keys of columns are smaller or larger than. */
export function toBoundKey(sortKey: string): string {
  // What is cut off is smaller than all that could stand there.
  return sortKey.startsWith('n') ? sortKey.replace(/0+$/, '') : sortKey
}

/** The keys of long strings lie here, apart from all others. */
export const LONG_TEXT_KEYS = { from: 'l', to: 'm' }

/** A moment as text is not longer. */
const MAX_COLUMN_KEY_BYTES = 28

const shortHash = (text: string) => hash('sha256', text, 'base64url').slice(0, 12)

const selectPaths = prepareQuery<{ shelf: string }, Pick<RecordPathRow, 'path' | 'n'>>((db, arg) =>
  db.selectFrom('record_paths').select(['path', 'n']).where('shelf', '=', arg('shelf')),
)

/** In one order for all writers, so that two of them do not wait for each other. */
function chooseColumns(columns: ColumnsByPath, fields: readonly RecordField[]): { path: string; n: number }[] {
  const taken = new Set(columns.values())
  const free = Array.from({ length: COLUMN_COUNT }, (_, n) => n).filter((n) => !taken.has(n))
  const newcomers = skipCrowdedPaths(columns, fields.map(({ path }) => path).toSorted())
  return free.slice(0, newcomers.length).map((n, i) => ({ path: newcomers[i] ?? '', n }))
}

/** Objects that are used as a map, with a key for each thing, shall not take all columns away. */
function skipCrowdedPaths(columns: ColumnsByPath, paths: readonly string[]): string[] {
  const siblings = new Map<string, number>()
  const add = (path: string) => siblings.set(parentOf(path), (siblings.get(parentOf(path)) ?? 0) + 1)
  for (const path of columns.keys()) add(path)
  const newcomers: string[] = []
  for (const path of paths) {
    const crowded = parentOf(path) !== '' && (siblings.get(parentOf(path)) ?? 0) >= MAX_SIBLINGS
    if (crowded || columns.has(path)) continue
    newcomers.push(path)
    add(path)
  }
  return newcomers
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('.')))

const MAX_SIBLINGS = 16
