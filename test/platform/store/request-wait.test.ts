import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import { openPostgresStore } from '../../../src/platform/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import { createReplicatedPostgres } from '../../faults/replicated-postgres.ts'
import { createDatabase, killPostgres, runAdminStatement } from '../../postgres.ts'
import { proxiedStore } from './proxied-store.ts'

const insertReplica = (store: Store, id: string, group?: string) =>
  store.transact(async (db) => {
    await db.insertInto('replicas').values({ id, started_at: 'now', seen_at: 'now' }).execute()
  }, group)

const listReplicas = async (store: Pick<Store, 'db'>) =>
  (await store.db.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id)

test('a request that reads or writes while the database cannot be reached waits for it', async () => {
  const { store, proxy } = await proxiedStore()
  const requests = store.forRequests(20_000)
  proxy.cut()
  const written = insertReplica(requests, 'rep_1')
  const grouped = insertReplica(requests, 'rep_2', 'group')
  const read = listReplicas(requests)
  // The store itself does not wait.
  await expect(listReplicas(store)).rejects.toBeInstanceOf(StoreUnavailable)
  proxy.heal()
  await Promise.all([written, grouped, read])
  expect(await listReplicas(store)).toEqual(['rep_1', 'rep_2'])
})

test.each(['before', 'after'] as const)(
  'the connection of a request breaks %s the commit: the request is committed exactly once',
  async (moment) => {
    const { store, proxy } = await proxiedStore()
    const requests = store.forRequests(20_000)
    const broken = proxy.cutAt('commit', moment, 'insert into "replicas"')
    // Without the look-up, the second attempt would fail, because the id exists.
    await insertReplica(requests, 'rep_1')
    await broken
    expect(await listReplicas(store)).toEqual(['rep_1'])
  },
)

test('a request fails when the database has not responded for longer than the wait', async () => {
  const { store, proxy } = await proxiedStore()
  const requests = store.forRequests(500)
  await listReplicas(requests)
  proxy.cut()
  await expect(listReplicas(requests)).rejects.toBeInstanceOf(StoreUnavailable)
  await expect(insertReplica(requests, 'rep_1')).rejects.toBeInstanceOf(StoreUnavailable)
  proxy.heal()
  await expect.poll(() => insertReplica(requests, 'rep_1').then(() => 'written', String)).toBe('written')
})

test('a request that gets no connection while the database responds does not wait for it', async () => {
  const store = await openPostgresStore(await createDatabase(), () => {}, {
    limits: { connections: 1, statementMs: 30_000 },
  })
  onTestFinished(() => store.close())
  const requests = store.forRequests(600_000)
  const refusal = new AbortController()
  const busy = store.transact(async (db) => {
    const until = performance.now() + 20_000
    while (!refusal.signal.aborted && performance.now() < until) await sql`select pg_sleep(0.2)`.execute(db)
  })
  await expect(listReplicas(requests).finally(() => refusal.abort())).rejects.toBeInstanceOf(StoreUnavailable)
  await busy
})

test('a store with two servers uses the standby after it was promoted, and finds the primary at its start', async () => {
  const { primary, standby, url } = await createReplicatedPostgres()
  const open = async () => {
    const store = await openPostgresStore(url, () => {})
    onTestFinished(() => store.close())
    return store.forRequests(20_000)
  }
  const store = await open()
  await insertReplica(store, 'rep_1')
  await killPostgres(primary)
  const written = insertReplica(store, 'rep_2')
  await runAdminStatement(standby.url, 'select pg_promote()')
  await written
  expect(await listReplicas(await open())).toEqual(['rep_1', 'rep_2'])
})
