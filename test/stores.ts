import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { createDatabase } from './postgres.ts'

export type StoreKind = 'sqlite' | 'postgres'

/** Runs the same tests on both stores. */
export function eachStore(tests: (store: StoreKind) => void): void {
  describe.each(['sqlite', 'postgres'] as const)('on %s', tests)
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
  await store.close()
  const bytes = readFileSync(join(dir, 'svc.db'))
  rmSync(dir, { recursive: true })
  return bytes
}

let template: Promise<string> | null = null

/** Creates a migrated database. The migrations run once in each process, on a template that is copied. */
export async function createMigratedDatabase(): Promise<string> {
  template ??= createTemplate()
  return createDatabase(await template)
}

async function createTemplate(): Promise<string> {
  const url = await createDatabase()
  const store = await openPostgresStore(url, () => {})
  await store.close()
  return url
}
