import type { Config } from '../config/config.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'

/** `DATABASE_URL` chooses PostgreSQL; without it the store is a SQLite file in the data folder. */
export function openStore(config: Config, warn: (message: string, error: unknown) => void): Promise<Store> {
  return config.databaseUrl ? openPostgres(config.databaseUrl, warn) : openSqlite(config.dataDir, config.sqliteSync)
}
