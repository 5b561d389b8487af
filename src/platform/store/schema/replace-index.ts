import { sql } from 'kysely'
import { isPostgres } from '../dialect.ts'
import type { Db } from '../store.ts'
import { runWithShortLocks } from './short-locks.ts'

/** No index that an administrator created has this name. */
const REPLACEMENT = '_svc_replacement'

/**
 * Builds an index that replaces one of the same name. PostgreSQL keeps the old one until `useReplacements`: dropping it locks
 * readers until the transaction ends, and to drop it after building the new one would be a deadlock with every transaction
 * that has read the table and now waits to write it.
 */
export const replaceIndex = (db: Db, name: string, columns: string): string[] =>
  isPostgres(db)
    ? [`create index ${name}${REPLACEMENT} on ${columns}`]
    : [`drop index ${name}`, `create index ${name} on ${columns}`]

/**
 * Lets writers of all these tables wait before the first index is built. A later lock would be a deadlock with every
 * transaction that has written one of the other tables and now waits to write the first.
 */
export async function lockForIndexes(db: Db, tables: readonly string[]): Promise<void> {
  if (isPostgres(db)) await runWithShortLocks(db, [`lock table ${tables.join(', ')} in share mode`])
}

/** Gives the indexes that `replaceIndex` has built the names of the old ones. Takes milliseconds, whatever their size. */
export async function useReplacements(db: Db): Promise<void> {
  if (!isPostgres(db)) return
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'i' and relname like ${`%${REPLACEMENT}`} and pg_table_is_visible(oid)`.execute(db)
  const names = rows.map(({ name }) => name.slice(0, -REPLACEMENT.length))
  await runWithShortLocks(
    db,
    names.flatMap((name) => [`drop index ${name}`, `alter index ${name}${REPLACEMENT} rename to ${name}`]),
  )
}
