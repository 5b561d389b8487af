import { onTestFinished } from 'vitest'
import { openPostgres } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { Proxy } from '../faults/proxy.ts'
import { createDatabase, dropDatabase } from '../postgres.ts'

/** A store on a database of its own, behind a wire that can be cut. */
export async function wired(): Promise<{ store: Store; proxy: Proxy }> {
  const database = await createDatabase()
  onTestFinished(() => dropDatabase(database))
  const proxy = await Proxy.before(database)
  onTestFinished(() => proxy.close())
  const store = await openPostgres(proxy.url, () => {})
  onTestFinished(() => store.close())
  return { store, proxy }
}
