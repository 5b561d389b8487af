import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openPostgresStore } from '../../../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../../../src/platform/store/sqlite/sqlite-store.ts'
import type { Db, Store } from '../../../../src/platform/store/store.ts'
import { createMigratedDatabase, createMigratedFolder, releaseMigratedDatabase } from '../../../stores.ts'
import { SAMPLE_KEY, type TableColumns } from './rows-functions.ts'

const OTHER_KEY = 'k2'

/** Worlds differ in the values of the columns: a column that may be null is null in every second one. */
export const WORLDS = [0, 1, 2, 3]

export interface SeededStores {
  sqlite: Store
  postgres: Store
  close(): Promise<void>
}

/** Two stores with the same two rows in every table. */
export async function openSeededStores(world: number, columns: TableColumns): Promise<SeededStores> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-stores-'))
  await createMigratedFolder(join(folder, 'data'))
  const url = await createMigratedDatabase()
  const sqlite = await openSqliteStore(join(folder, 'data'), 'normal')
  const postgres = await openPostgresStore(url, () => {})
  for (const store of [sqlite, postgres]) await store.transact((db) => insertRows(db, store.kind, world, columns))
  return {
    sqlite,
    postgres,
    async close() {
      await Promise.all([sqlite.close(), postgres.close()])
      rmSync(folder, { recursive: true, force: true })
      await releaseMigratedDatabase(url)
    },
  }
}

async function insertRows(db: Db, kind: Store['kind'], world: number, columns: TableColumns): Promise<void> {
  await ignoreForeignKeys(db, kind)
  for (const [table, types] of columns) {
    const rows = [SAMPLE_KEY, OTHER_KEY].map((key) =>
      Object.fromEntries(types.map(({ name, valueFor }) => [name, valueFor(world, key)])),
    )
    // Only one organisation can be the first.
    const unique = rows.map((row) => ('founding' in row && row['id'] === OTHER_KEY ? { ...row, founding: null } : row))
    await db
      .insertInto(table as 'tasks')
      .values(unique as never)
      .execute()
  }
}

/** Until the end of the transaction, so that the order of the tables does not matter. */
export async function ignoreForeignKeys(db: Db, kind: Store['kind']): Promise<void> {
  await (kind === 'sqlite'
    ? sql`pragma defer_foreign_keys = on`.execute(db)
    : sql`set local session_replication_role = replica`.execute(db))
}
