import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import { createMigratedDatabase, releaseMigratedDatabase, type StoreKind } from '../../stores.ts'

/** A migrated store without rows. The caller calls `remove` at the end. */
export async function emptyStore(kind: StoreKind): Promise<{ store: Store; remove: () => Promise<void> }> {
  if (kind === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
    const store = await openSqliteStore(folder, 'normal')
    return { store, remove: () => store.close().then(() => rm(folder, { recursive: true })) }
  }
  const url = await createMigratedDatabase()
  const store = await openPostgresStore(url, () => {})
  return { store, remove: () => store.close().then(() => releaseMigratedDatabase(url)) }
}
