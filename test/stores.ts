import { describe } from 'vitest'
import { openPostgres } from '../src/store/postgres.ts'
import { createDatabase } from './postgres.ts'

export type StoreKind = 'sqlite' | 'postgres'

/** Runs the same tests on both stores: what holds must hold on each. */
export function eachStore(tests: (store: StoreKind) => void): void {
  describe.each(['sqlite', 'postgres'] as const)('on %s', tests)
}

let template: Promise<string> | null = null

/** A database of its own with the schema in it, copied from one that was migrated once a process. */
export async function migratedDatabase(): Promise<string> {
  template ??= migrateTemplate()
  return createDatabase(await template)
}

async function migrateTemplate(): Promise<string> {
  const url = await createDatabase()
  const store = await openPostgres(url, () => {})
  await store.close()
  return url
}
