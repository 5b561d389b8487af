import type { Config } from '../config/config.ts'
import type { Store } from './store.ts'

/**
 * `DATABASE_URL` selects PostgreSQL; without it the store is a SQLite file in the data folder. Loads only the driver that
 * it needs: the other one would add a third to the start time.
 */
export async function openStore(
  config: Config,
  warn: (message: string, error: unknown) => void,
  replica?: string,
): Promise<Store> {
  if (config.databaseUrl)
    return (await import('./postgres/postgres-store.ts')).openPostgresStore(config.databaseUrl, warn, { replica })
  return (await import('./sqlite/sqlite-store.ts')).openSqliteStore(config.dataDir, config.sqliteSync, warn)
}
