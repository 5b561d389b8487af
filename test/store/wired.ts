import { onTestFinished } from 'vitest'
import { openPostgres, POOL_LIMITS } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { type Proxy, wired } from '../faults/proxy.ts'

/** A store on a database of its own, behind a wire that can be cut, and what it warned of. */
export async function wiredStore(limits = POOL_LIMITS): Promise<{ store: Store; proxy: Proxy; warned: string[] }> {
  const { proxy } = await wired()
  const warned: string[] = []
  const store = await openPostgres(proxy.url, (message) => warned.push(message), limits)
  onTestFinished(() => store.close())
  return { store, proxy, warned }
}
