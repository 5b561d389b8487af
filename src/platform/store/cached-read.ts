import { DirectSqliteAdapter, type TableVersions } from './dialect.ts'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

interface CachedRows<Row> {
  version: number
  rows: Row[]
}

/** The limit for one query. The cache is cleared when it is full. */
const MAX_CACHED_RESULTS = 1000

/**
 * Caches a read that every request needs and that seldom changes, until one of its tables is written. Only on SQLite and
 * outside of transactions: on PostgreSQL other replicas write too. A result without rows is not cached.
 */
export function cachedRead<Args extends object, Row>(
  tables: readonly (keyof Tables)[],
  read: (db: Db, args: Args) => Promise<Row[]>,
): (db: Db, args: Args) => Promise<Row[]> {
  const caches = new WeakMap<TableVersions, Map<string, CachedRows<Row>>>()
  return async (db, args) => {
    const { adapter } = db.getExecutor()
    const versions = adapter instanceof DirectSqliteAdapter ? adapter.versions : null
    const version = versions?.versionOf(tables) ?? null
    if (!versions || version === null) return read(db, args)
    const cache = caches.get(versions) ?? new Map<string, CachedRows<Row>>()
    caches.set(versions, cache)
    const key = Object.values(args).join('\0')
    const cached = cache.get(key)
    if (cached?.version === version) return cached.rows
    const rows = await read(db, args)
    cache.delete(key)
    if (cache.size >= MAX_CACHED_RESULTS) cache.clear()
    if (rows.length > 0) cache.set(key, { version, rows })
    return rows
  }
}
