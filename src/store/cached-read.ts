import { DirectSqliteAdapter } from './dialect.ts'
import type { TableVersions } from './table-versions.ts'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

interface CachedRows<Row> {
  stamp: number
  rows: Row[]
}

/** As many answers are kept of one question; who asks for more things at once has to wait for the store. */
const MAX_CACHED_RESULTS = 1000

/**
 * A read that every request needs and that seldom changes: its rows are kept until one of its tables is written. Where
 * others write too, and inside a transaction, the store is asked every time. What is not there is never kept.
 */
export function cachedRead<Args extends object, Row>(
  tables: readonly (keyof Tables)[],
  read: (db: Db, args: Args) => Promise<Row[]>,
): (db: Db, args: Args) => Promise<Row[]> {
  const memories = new WeakMap<TableVersions, Map<string, CachedRows<Row>>>()
  return async (db, args) => {
    const { adapter } = db.getExecutor()
    const stamps = adapter instanceof DirectSqliteAdapter ? adapter.versions : null
    const stamp = stamps?.versionOf(tables) ?? null
    if (!stamps || stamp === null) return read(db, args)
    const memory = memories.get(stamps) ?? new Map<string, CachedRows<Row>>()
    memories.set(stamps, memory)
    const key = Object.values(args).join('\0')
    const kept = memory.get(key)
    if (kept?.stamp === stamp) return kept.rows
    const rows = await read(db, args)
    memory.delete(key)
    if (memory.size >= MAX_CACHED_RESULTS) memory.clear()
    if (rows.length > 0) memory.set(key, { stamp, rows })
    return rows
  }
}
