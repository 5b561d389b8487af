import { createHash } from 'node:crypto'
import { prepared } from '../store/prepared.ts'
import type { Db, Store } from '../store/store.ts'
import type { RecordPaths } from '../store/tables.ts'
import type { Field } from './fields.ts'

/** How many paths of a collection have a column. What the others hold is found in `record_fields` only. */
export const COLUMNS = 64

/** The column of each path of a shelf that has one. */
export type Columns = ReadonlyMap<string, number>

export async function columnsOn(db: Db, shelf: string): Promise<Columns> {
  return new Map((await pathsOn(db, { shelf })).map(({ path, n }) => [path, n]))
}

/** The same, after the paths that are new to the shelf got a column each, for good, while there were some left. */
export async function columnsFor(store: Store, shelf: string, fields: readonly Field[]): Promise<Columns> {
  for (;;) {
    const columns = await columnsOn(store.db, shelf)
    const newcomers = placed(columns, fields)
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
 * A sort key as short as a row of many wants it: it is equal to others, and smaller or larger than the bounds that
 * `isShortBound` lets pass, as the sort key is.
 */
export function columnKey(sortKey: string): string {
  // What is cut off is smaller than all that could stand there.
  if (sortKey.startsWith('n')) return sortKey.replace(/0+$/, '')
  const bytes = Buffer.from(sortKey)
  if (bytes.length <= MAX_KEY_BYTES) return sortKey
  let end = CUT_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + createHash('sha256').update(bytes).digest('base64url').slice(0, 16)
}

/** Whether every column key has enough of the beginning left to be compared with it. */
export const isShortBound = (sortKey: string): boolean => Buffer.byteLength(sortKey) <= MAX_BOUND_BYTES

/** A moment as text is not longer. */
const MAX_BOUND_BYTES = 28
/** A character has at most four bytes, so more than a bound is left. */
const CUT_BYTES = MAX_BOUND_BYTES + 4
/** Shorter than whatever was cut, so that the two are never equal. */
const MAX_KEY_BYTES = 36

const pathsOn = prepared<{ shelf: string }, Pick<RecordPaths, 'path' | 'n'>>((db, arg) =>
  db.selectFrom('record_paths').select(['path', 'n']).where('shelf', '=', arg('shelf')),
)

function placed(columns: Columns, fields: readonly Field[]): { path: string; n: number }[] {
  const taken = new Set(columns.values())
  const free = Array.from({ length: COLUMNS }, (_, n) => n).filter((n) => !taken.has(n))
  const newcomers = fields.filter(({ path }) => !columns.has(path))
  return free.slice(0, newcomers.length).map((n, i) => ({ path: newcomers[i]?.path ?? '', n }))
}
