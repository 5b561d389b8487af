import { classifyStoreError } from '../errors.ts'
import { loadSqlite, type SqliteModule } from './load-sqlite/load-sqlite.ts'

export interface SqliteConnection {
  exec(statement: string): void
  inTransaction(): boolean
  /** Grows with every statement that may have changed a row. */
  writeCount(): number
  prepare(text: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  reader: boolean
  all(parameters: readonly unknown[]): unknown[]
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  /** For a statement whose rows and count are not needed: half the cost of `run`. */
  execute(parameters: readonly unknown[]): void
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>
}

/**
 * A connection that keeps its statements prepared and classifies errors. `setUp` comes before everything else: what a new
 * file needs before it is written to.
 */
export function openSqliteConnection(path: string, sync: 'full' | 'normal', setUp = ''): SqliteConnection {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  // On macOS a plain fsync ends in the cache of the disk, which a power cut empties; elsewhere `fullfsync` has no effect.
  database.exec(`pragma busy_timeout = 5000; ${setUp}; pragma journal_mode = wal; pragma synchronous = ${sync};
    pragma fullfsync = on; pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory;
    pragma journal_size_limit = ${MAX_EMPTY_LOG_BYTES}`)
  const statements = new Map<string, SqliteStatement>()
  let writeCount = 0
  const countWrite = () => void writeCount++
  return {
    exec: (statement) => classifyErrors(() => database.exec(statement)),
    inTransaction: () => database.isTransaction,
    writeCount: () => writeCount,
    close: () => database.close(),
    prepare(text) {
      const known = statements.get(text)
      if (known) return known
      const statement = adaptStatement(database.prepare(text), SELECT_STATEMENT.test(text) ? () => {} : countWrite)
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      statements.set(text, statement)
      return statement
    },
  }
}

const MAX_STATEMENTS = 500
/** A write-ahead log that a long read let grow gives its space back when it starts again. */
const MAX_EMPTY_LOG_BYTES = 16 * 1024 * 1024
const SELECT_STATEMENT = /^\s*select\b/i

type NativeStatement = ReturnType<InstanceType<SqliteModule['DatabaseSync']>['prepare']>

/** The interface that Kysely expects of a statement. */
function adaptStatement(statement: NativeStatement, onWrite: () => void): SqliteStatement {
  type Given = Parameters<NativeStatement['all']>
  const readRows = createRowReader(statement)
  const all = (parameters: readonly unknown[]) => {
    const found = classifyErrors(() => statement.all(...(parameters as Given)))
    if (found.length > 0) onWrite()
    return readRows(found)
  }
  return {
    reader: statement.columns().length > 0,
    all,
    run(parameters) {
      const result = classifyErrors(() => statement.run(...(parameters as Given)))
      if (result.changes > 0) onWrite()
      return result
    },
    execute(parameters) {
      classifyErrors(() => statement.get(...(parameters as Given)))
      onWrite()
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

/** Reads rows as plain objects. Built from arrays, where the driver can return them, they cost half as much. */
function createRowReader(statement: NativeStatement): (found: unknown[]) => object[] {
  // A driver without arrays returns objects with a null prototype, which callers do not expect.
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

/** The rows of a statement; none if it returns no rows. */
export function runStatement(connection: SqliteConnection, text: string, parameters: readonly unknown[]): unknown[] {
  const statement = connection.prepare(text)
  if (statement.reader) return statement.all(parameters)
  statement.execute(parameters)
  return []
}
