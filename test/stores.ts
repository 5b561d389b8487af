import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe } from 'vitest'
import { openPostgresStore } from '../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/platform/store/sqlite/sqlite-store.ts'
import { IS_MATRIX } from './matrix.ts'
import { createDatabase, dropDatabase, type EmptiedDatabase, emptyDatabase } from './postgres.ts'
import { IS_QUICK } from './quick-files.ts'

export type StoreKind = 'sqlite' | 'postgres'

const BOTH = ['sqlite', 'postgres'] as const
const ONE = ['sqlite'] as const

/** Runs tests on both stores, because their SQL, transactions or locks can differ; only on SQLite in `npm run test:quick`. */
export function eachStore(tests: (store: StoreKind) => void): void {
  describe.each(IS_QUICK ? ONE : BOTH)('on %s', tests)
}

/**
 * Runs tests of behaviour that does not depend on the store: on SQLite, and in the matrix on both. That every function of
 * every `rows.ts` does the same on both stores is tested in each run by `test/platform/store/both-stores`.
 */
export function anyStore(tests: (store: StoreKind) => void): void {
  describe.each(IS_MATRIX ? BOTH : ONE)('on %s', tests)
}

let migratedFile: Promise<Buffer> | null = null

/** Creates a data folder with a migrated store. The migrations run once in each process. */
export async function createMigratedFolder(dataDir: string): Promise<void> {
  migratedFile ??= createMigratedFile()
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, 'svc.db'), await migratedFile, { mode: 0o600 })
}

async function createMigratedFile(): Promise<Buffer> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const store = await openSqliteStore(dir, 'normal')
  // Node 20's driver keeps a closed file open, so SQLite would leave the schema in the write-ahead log.
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db)
  await store.close()
  const bytes = readFileSync(join(dir, 'svc.db'))
  rmSync(dir, { recursive: true })
  return bytes
}

let template: Promise<EmptiedDatabase & { url: string }> | null = null
/** Databases that earlier tests of this process released. */
const idle: string[] = []
/** A released database that holds more than this in deleted rows is not used again. */
const MAX_DELETED_BYTES = 4_000_000

/** A migrated database without rows: one that an earlier test released, or a copy of a template. */
export async function createMigratedDatabase(): Promise<string> {
  template ??= createTemplate()
  return idle.pop() ?? createDatabase((await template).url)
}

/** Lets a later test use the database, because deleting its rows takes less time than copying and dropping a database. */
export async function releaseMigratedDatabase(url: string): Promise<void> {
  template ??= createTemplate()
  const { schema, bytes } = await template
  const left = await emptyDatabase(url).catch(() => null)
  if (left?.schema === schema && left.bytes - bytes < MAX_DELETED_BYTES) idle.push(url)
  else await dropDatabase(url)
}

async function createTemplate(): Promise<EmptiedDatabase & { url: string }> {
  const url = await createDatabase()
  const store = await openPostgresStore(url, () => {})
  await store.close()
  return { url, ...(await emptyDatabase(url)) }
}
