import { onTestFinished } from 'vitest'
import { openPostgresStore, POOL_LIMITS } from '../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../src/store/store.ts'
import { type TcpProxy, createProxiedDatabase } from '../faults/tcp-proxy.ts'

/** A store on a database of its own, behind a wire that can be cut, and what it warned of. */
export async function proxiedStore(limits = POOL_LIMITS): Promise<{ store: Store; proxy: TcpProxy; warned: string[] }> {
  const { proxy } = await createProxiedDatabase()
  const warned: string[] = []
  const store = await openPostgresStore(proxy.url, (message) => warned.push(message), limits)
  onTestFinished(() => store.close())
  return { store, proxy, warned }
}
