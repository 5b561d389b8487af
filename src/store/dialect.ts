import { CompiledQuery, type Dialect, type DialectAdapter, Kysely, PostgresAdapter, SqliteAdapter } from 'kysely'
import type { TableVersions } from './table-versions.ts'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/** The one file that knows which store it is. */
export function isPostgres(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/**
 * SQLite answers at once, so a compiled query needs none of the promises that Kysely takes to lend a connection. Safe
 * because a handle is used by one: reads on their own, writes inside the commit lane.
 */
export class DirectSqliteAdapter extends SqliteAdapter {
  readonly run: (text: string, parameters: readonly unknown[]) => unknown[]
  /** Null: what is read here may not be committed. */
  readonly versions: TableVersions | null
  constructor(run: DirectSqliteAdapter['run'], stamps: TableVersions | null) {
    super()
    this.run = run
    this.versions = stamps
  }
}

/**
 * How a statement goes to a store that is elsewhere: a `quiet` one answers nothing, and a `glance` may wait for the end
 * of the turn to share a message with others.
 */
export type StatementMode = 'quiet' | 'glance' | 'plain'

/** The same for PostgreSQL, where the way through Kysely costs as much as the driver. */
export class DirectPostgresAdapter extends PostgresAdapter {
  readonly run: (text: string, parameters: readonly unknown[], how: StatementMode) => Promise<unknown[]>
  constructor(run: DirectPostgresAdapter['run']) {
    super()
    this.run = run
  }
}

/** Kysely for whoever builds queries, and the adapter's short way for those that are built already. */
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

/** Runs a compiled query by the shortest way that the store has. */
export async function runCompiled<Row>(
  db: Db,
  query: CompiledQuery<Row>,
  parameters: readonly unknown[],
  how: StatementMode,
): Promise<Row[]> {
  const { adapter } = db.getExecutor()
  if (adapter instanceof DirectSqliteAdapter) return adapter.run(query.sql, parameters) as Row[]
  // A transaction of Kysely's own has a connection that only Kysely knows.
  if (adapter instanceof DirectPostgresAdapter && !db.isTransaction)
    return (await adapter.run(query.sql, parameters, how)) as Row[]
  return (await db.executeQuery<Row>({ ...query, parameters })).rows
}

/**
 * Many rows in few statements. The sizes are fixed so that both stores can keep the statements prepared. `adding` are
 * the columns that are added to a row that is there: the other columns are its key.
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
      await runCompiled(db, CompiledQuery.raw(text), values, 'quiet')
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
