import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { dropDatabase } from '../postgres.ts'
import { migratedDatabase, type StoreKind } from '../stores.ts'

/** A store without an app around it. */
export async function emptyStore(kind: StoreKind): Promise<{ store: Store; remove: () => Promise<void> }> {
  if (kind === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
    const store = await openSqlite(folder, 'normal')
    return { store, remove: () => store.close().then(() => rm(folder, { recursive: true })) }
  }
  const url = await migratedDatabase()
  const store = await openPostgres(url, () => {})
  return { store, remove: () => store.close().then(() => dropDatabase(url)) }
}
