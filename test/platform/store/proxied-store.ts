import { onTestFinished } from 'vitest'
import { openPostgresStore, POOL_LIMITS } from '../../../src/platform/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import { type TcpProxy, createProxiedDatabase } from '../../faults/tcp-proxy.ts'

/** A PostgreSQL store with its own database, whose connections go through a proxy, and the messages that it logs. */
export async function proxiedStore(
  limits = POOL_LIMITS,
): Promise<{ store: Store; proxy: TcpProxy; warnings: string[] }> {
  const { proxy } = await createProxiedDatabase()
  const warnings: string[] = []
  const store = await openPostgresStore(proxy.url, (message) => warnings.push(message), { limits })
  onTestFinished(() => store.close())
  return { store, proxy, warnings }
}
