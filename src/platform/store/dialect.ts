import { CompiledQuery, type Dialect, type DialectAdapter, Kysely, PostgresAdapter, SqliteAdapter, sql } from 'kysely'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/** Outside this folder, only for code whose SQL differs between the stores. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/** Lets one replica at a time do some work, until its transaction ends. False: another replica does it. */
export async function tryExclusiveWork(db: Db, name: string): Promise<boolean> {
  if (!isPostgres(db)) return true
  const { rows } = await sql<{ is_locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('svc'), hashtext(${name})) as is_locked`.execute(db)
  return rows[0]?.is_locked ?? false
}

/**
 * Runs compiled queries without Kysely, whose promises cost more than SQLite needs to run them. This is safe because no
 * two callers use a connection at once: reads are synchronous, and the group commit runs one transaction at a time.
 */
export class DirectSqliteAdapter extends SqliteAdapter {
  readonly run: (text: string, parameters: readonly unknown[]) => unknown[]
  constructor(run: DirectSqliteAdapter['run']) {
    super()
    this.run = run
  }
}

/** PostgreSQL gets a `deferred` statement, whose result is not needed, together with the next `awaited` one. */
export type StatementMode = 'awaited' | 'deferred'

/** The same for PostgreSQL, where Kysely costs as much as the driver. */
export class DirectPostgresAdapter extends PostgresAdapter {
  readonly run: (text: string, parameters: readonly unknown[], mode: StatementMode) => Promise<unknown[]>
  constructor(run: DirectPostgresAdapter['run']) {
    super()
    this.run = run
  }
}

/** Kysely for queries that are built when they run; the adapter runs those that were compiled before. */
export function createKysely(dialect: Dialect, adapter: DialectAdapter): Db {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => dialect.createDriver(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
  })
}

export async function runCompiled<Row>(
  db: Db,
  query: CompiledQuery<Row>,
  parameters: readonly unknown[],
  mode: StatementMode,
): Promise<Row[]> {
  const { adapter } = db.getExecutor()
  if (adapter instanceof DirectSqliteAdapter) return adapter.run(query.sql, parameters) as Row[]
  // A transaction that Kysely opened has its own connection, which the adapter does not know.
  if (adapter instanceof DirectPostgresAdapter && !db.isTransaction)
    return (await adapter.run(query.sql, parameters, mode)) as Row[]
  return (await db.executeQuery<Row>({ ...query, parameters })).rows
}

/**
 * Inserts many rows in few statements, of fixed sizes so that the stores can keep the statements prepared. The values of
 * the columns in `adding` are added to a row that exists; the other columns are its key.
 */
export function createBulkInsert<T extends keyof Tables>(
  table: T,
  columns: readonly (keyof Tables[T] & string)[],
  adding: readonly (keyof Tables[T] & string)[] = [],
) {
  const texts = new Map<string, string>()
  return async (db: Db, rows: readonly (readonly unknown[])[]): Promise<void> => {
    const postgres = isPostgres(db)
    for (let at = 0; at < rows.length; ) {
      const size = BULK_SIZES.find((candidate) => candidate <= rows.length - at) ?? 1
      const key = `${postgres} ${size}`
      const text = texts.get(key) ?? insertText(postgres, table, columns, size) + addText(table, columns, adding)
      texts.set(key, text)
      const values: unknown[] = []
      for (const row of rows.slice(at, at + size)) values.push(...row)
      await runCompiled(db, CompiledQuery.raw(text), values, 'deferred')
      at += size
    }
  }
}

const BULK_SIZES = [64, 16, 8, 5, 4, 3, 2, 1]

function insertText(postgres: boolean, table: string, columns: readonly string[], rows: number): string {
  let n = 0
  const row = () => `(${columns.map(() => (postgres ? `$${++n}` : '?')).join(', ')})`
  return `insert into ${table} (${columns.join(', ')}) values ${Array.from({ length: rows }, row).join(', ')}`
}

function addText(table: string, columns: readonly string[], adding: readonly string[]): string {
  if (adding.length === 0) return ''
  const key = columns.filter((column) => !adding.includes(column))
  const sums = adding.map((column) => `${column} = ${table}.${column} + excluded.${column}`)
  return ` on conflict (${key.join(', ')}) do update set ${sums.join(', ')}`
}
