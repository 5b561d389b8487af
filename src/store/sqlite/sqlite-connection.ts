import { SqliteDialect } from 'kysely'
import { classifyStoreError } from '../errors.ts'
import { DirectSqliteAdapter, createKysely } from '../dialect.ts'
import type { TableVersions } from '../table-versions.ts'
import type { Db } from '../store.ts'
import { loadSqlite, type SqliteModule } from './load-sqlite/load-sqlite.ts'

export interface SqliteConnection {
  exec(statement: string): void
  inTransaction(): boolean
  /** Grows with every statement that may have changed a row, of that table if one is named. */
  writeCount(table?: string): number
  /** Another number when somebody else has committed something. */
  dataVersion(): number
  prepare(text: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  reader: boolean
  all(parameters: readonly unknown[]): unknown[]
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  /** For what has no rows to tell of and whose count nobody asks for: half the way through the driver. */
  execute(parameters: readonly unknown[]): void
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>
}

/** A connection whose statements are prepared once, with errors told apart. */
export function openSqliteConnection(path: string, sync: 'full' | 'normal'): SqliteConnection {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  // On macOS a plain fsync stops at the disk's own cache, which a power cut empties; elsewhere `fullfsync` means nothing.
  database.exec(`pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = ${sync};
    pragma fullfsync = on; pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory`)
  const statements = new Map<string, SqliteStatement>()
  let written = 0
  const writtenTo = new Map<string, number>()
  const writing = (text: string) => {
    const tables = [...text.matchAll(WRITTEN_TABLES)].map(([, table]) => table ?? '')
    return () => {
      written++
      for (const table of tables) writtenTo.set(table, (writtenTo.get(table) ?? 0) + 1)
    }
  }
  const dataVersion = database.prepare('pragma data_version')
  return {
    exec: (statement) => classifyErrors(() => database.exec(statement)),
    inTransaction: () => database.isTransaction,
    writeCount: (table) => (table === undefined ? written : (writtenTo.get(table) ?? 0)),
    dataVersion: () => classifyErrors(() => (dataVersion.get() as { data_version: number }).data_version),
    close: () => database.close(),
    prepare(text) {
      const known = statements.get(text)
      if (known) return known
      const statement = adaptStatement(database.prepare(text), SELECT_STATEMENT.test(text) ? () => {} : writing(text))
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      statements.set(text, statement)
      return statement
    },
  }
}

const MAX_STATEMENTS = 500
const SELECT_STATEMENT = /^\s*select\b/i
/** The tables of a statement that writes; that some are only read in it does no harm. */
const WRITTEN_TABLES = /\b(?:into|update|from)\s+"?(\w+)/gi

type NativeStatement = ReturnType<InstanceType<SqliteModule['DatabaseSync']>['prepare']>

/** The few calls that Kysely makes, in the shape that it expects. */
function adaptStatement(statement: NativeStatement, wrote: () => void): SqliteStatement {
  type Given = Parameters<NativeStatement['all']>
  const rows = createRowReader(statement)
  const all = (parameters: readonly unknown[]) => {
    const answered = classifyErrors(() => statement.all(...(parameters as Given)))
    if (answered.length > 0) wrote()
    return rows(answered)
  }
  return {
    reader: statement.columns().length > 0,
    all,
    run(parameters) {
      const result = classifyErrors(() => statement.run(...(parameters as Given)))
      if (result.changes > 0) wrote()
      return result
    },
    execute(parameters) {
      classifyErrors(() => statement.get(...(parameters as Given)))
      wrote()
    },
    iterate: (parameters) => all(parameters).values(),
  }
}

function classifyErrors<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw classifyStoreError(error)
  }
}

/** Rows as plain objects. Built here from lists, where the driver can give them, they cost half as much. */
function createRowReader(statement: NativeStatement): (answered: unknown[]) => object[] {
  // Drivers without it give objects with a null prototype; a plain one is what everybody else expects.
  if (typeof statement.setReturnArrays !== 'function') return (rows) => rows.map((row) => ({ ...(row as object) }))
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  return (rows) =>
    rows.map((values) => {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < names.length; i++) row[names[i] as string] = (values as unknown[])[i]
      return row
    })
}

/** With `stamps`, what is read over and over may be remembered. */
export function createSqliteKysely(handle: SqliteConnection, stamps: TableVersions | null): Db {
  const dialect = new SqliteDialect({ database: handle })
  const adapter = new DirectSqliteAdapter((text, parameters) => runDirect(handle.prepare(text), parameters), stamps)
  return createKysely(dialect, adapter)
}

function runDirect(statement: SqliteStatement, parameters: readonly unknown[]): unknown[] {
  if (statement.reader) return statement.all(parameters)
  statement.execute(parameters)
  return []
}
