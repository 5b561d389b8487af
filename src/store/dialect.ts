import { CompiledQuery, PostgresAdapter } from 'kysely'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/** The one file that knows which store it is. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/** Makes a text column sort by its bytes. SQLite does so anyway, PostgreSQL by the language of the database. */
export function byteOrder(db: Db): string {
  return isPostgres(db) ? 'collate "C"' : ''
}

/** Many rows in few statements. The sizes are fixed so that both stores can keep the statements prepared. */
export async function insertMany<T extends keyof Tables>(
  db: Db,
  table: T,
  columns: readonly (keyof Tables[T] & string)[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((candidate) => candidate <= rows.length - at) ?? 1
    const values = rows.slice(at, at + size).flat()
    await db.executeQuery(CompiledQuery.raw(insertText(isPostgres(db), table, columns, size), values))
    at += size
  }
}

const SIZES = [64, 16, 4, 1]

function insertText(postgres: boolean, table: string, columns: readonly string[], rows: number): string {
  let n = 0
  const row = () => `(${columns.map(() => (postgres ? `$${++n}` : '?')).join(', ')})`
  return `insert into ${table} (${columns.join(', ')}) values ${Array.from({ length: rows }, row).join(', ')}`
}
