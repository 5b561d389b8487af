import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import { proxiedStore } from './proxied-store.ts'

const IDS = ['a', 'b', 'c', 'd', 'e']

/** Inserts a row and returns the id of the transaction. */
async function insertReplica(db: Db, id: string): Promise<string> {
  await db.insertInto('replicas').values({ id, started_at: '', seen_at: '' }).execute()
  const { rows } = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db)
  return rows[0]?.xid ?? ''
}

const listIds = async ({ db }: Store) =>
  (await db.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id)

test('concurrent transactions of one group share a commit, and other transactions do not', async () => {
  const { store } = await proxiedStore()
  const together = await Promise.all(IDS.map((id) => store.transact((db) => insertReplica(db, id), 'group')))
  expect(new Set(together).size).toBe(1)
  const separate = await Promise.all([
    store.transact((db) => insertReplica(db, 'f'), 'one group'),
    store.transact((db) => insertReplica(db, 'g'), 'another group'),
    store.transact((db) => insertReplica(db, 'h')),
  ])
  expect(new Set([...together, ...separate]).size).toBe(4)
})

test('a transaction that fails before its first write does not affect the shared commit', async () => {
  const { store } = await proxiedStore()
  const refused = store.transact(async (db) => {
    // Changes no row, like a creation that the rate limit refuses.
    await db.updateTable('replicas').set({ seen_at: '' }).where('id', '=', 'absent').returning('id').execute()
    throw new Error('refused')
  }, 'group')
  const others = Promise.all(IDS.map((id) => store.transact((db) => insertReplica(db, id), 'group')))
  await expect(refused).rejects.toThrow('refused')
  expect(new Set(await others).size).toBe(1)
  expect(await listIds(store)).toEqual(IDS)
})

test('a transaction that fails after it deferred a write leaves nothing, and the others are committed', async () => {
  const { store } = await proxiedStore()
  const refused = store.transact(async (_, state) => {
    state.writeAtEnd('replica', (db) => insertReplica(db, 'deferred'))
    throw new Error('refused')
  }, 'group')
  const others = Promise.all(IDS.map((id) => store.transact((db) => insertReplica(db, id), 'group')))
  await expect(refused).rejects.toThrow('refused')
  await others
  expect(await listIds(store)).toEqual(IDS)
})

test.each(['before', 'after'] as const)(
  'a connection that breaks %s a shared commit: each durable transaction is committed exactly once',
  async (moment) => {
    const { store, proxy } = await proxiedStore()
    const broken = proxy.cutAt('commit', moment, 'insert into')
    await Promise.all(IDS.map((id) => store.transactDurably((db) => insertReplica(db, id), undefined, 'group')))
    await broken
    expect(await listIds(store)).toEqual(IDS)
  },
)

test('a connection that breaks before a shared commit: all transactions of the batch are rejected', async () => {
  const { store, proxy } = await proxiedStore()
  const broken = proxy.cutAt('commit', 'before', 'insert into')
  const settled = await Promise.allSettled(IDS.map((id) => store.transact((db) => insertReplica(db, id), 'group')))
  await broken
  expect(settled.map(({ status }) => status)).toEqual(IDS.map(() => 'rejected'))
  expect(await listIds(store)).toEqual([])
})
