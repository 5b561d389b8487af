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
export function manyRows<T extends keyof Tables>(table: T, columns: readonly (keyof Tables[T] & string)[]) {
  const texts = new Map<string, string>()
  return async (db: Db, rows: readonly (readonly unknown[])[]): Promise<void> => {
    const postgres = isPostgres(db)
    for (let at = 0; at < rows.length; ) {
      const size = SIZES.find((candidate) => candidate <= rows.length - at) ?? 1
      const key = `${postgres} ${size}`
      const text = texts.get(key) ?? insertText(postgres, table, columns, size)
      texts.set(key, text)
      await db.executeQuery(CompiledQuery.raw(text, rows.slice(at, at + size).flat()))
      at += size
    }
  }
}

const SIZES = [64, 16, 4, 1]

function insertText(postgres: boolean, table: string, columns: readonly string[], rows: number): string {
  let n = 0
  const row = () => `(${columns.map(() => (postgres ? `$${++n}` : '?')).join(', ')})`
  return `insert into ${table} (${columns.join(', ')}) values ${Array.from({ length: rows }, row).join(', ')}`
}
