import { type Driver, Kysely, SqliteAdapter, SqliteDialect, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { createKysely, DirectSqliteAdapter } from '../dialect.ts'
import type { Db } from '../store.ts'
import { runStatement, type SqliteConnection } from './sqlite-connection.ts'

/** Runs statements in this thread. */
export function createSqliteKysely(connection: SqliteConnection): Db {
  const adapter = new DirectSqliteAdapter((text, parameters) => runStatement(connection, text, parameters))
  return createKysely(new SqliteDialect({ database: connection }), adapter)
}

/** Runs statements with a driver of ours. */
export const createDrivenKysely = (driver: Driver): Db =>
  new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
