import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Db, Store } from '../../src/store/store.ts'
import { proxiedStore } from './proxied-store.ts'

const SOME = ['a', 'b', 'c', 'd', 'e']

/** Writes a row and answers with the number of its transaction. */
async function put(db: Db, id: string): Promise<string> {
  await db.insertInto('replicas').values({ id, started_at: '', seen_at: '' }).execute()
  const { rows } = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db)
  return rows[0]?.xid ?? ''
}

const idsIn = async ({ db }: Store) =>
  (await db.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id)

test('transactions of one lane that come together share a commit, others have their own', async () => {
  const { store } = await proxiedStore()
  const together = await Promise.all(SOME.map((id) => store.transact((db) => put(db, id), 'lane')))
  expect(new Set(together).size).toBe(1)
  const apart = await Promise.all([
    store.transact((db) => put(db, 'f'), 'one lane'),
    store.transact((db) => put(db, 'g'), 'another lane'),
    store.transact((db) => put(db, 'h')),
  ])
  expect(new Set([...together, ...apart]).size).toBe(4)
})

test('one that is refused before it has written leaves the others in their commit', async () => {
  const { store } = await proxiedStore()
  const refused = store.transact(async (db) => {
    // Changes nothing, like a turn of the rate limit that is not to be had.
    await db.updateTable('replicas').set({ seen_at: '' }).where('id', '=', 'nobody').returning('id').execute()
    throw new Error('refused')
  }, 'lane')
  const others = Promise.all(SOME.map((id) => store.transact((db) => put(db, id), 'lane')))
  await expect(refused).rejects.toThrow('refused')
  expect(new Set(await others).size).toBe(1)
  expect(await idsIn(store)).toEqual(SOME)
})

test.each(['before', 'after'] as const)(
  'a wire that is cut %s a commit that many share neither loses nor doubles one of them',
  async (moment) => {
    const { store, proxy } = await proxiedStore()
    const happened = proxy.cutAt('commit', moment, 'insert into')
    await Promise.all(SOME.map((id) => store.transactDurably((db) => put(db, id), undefined, 'lane')))
    await happened
    expect(await idsIn(store)).toEqual(SOME)
  },
)

test('a wire that is cut before a shared commit is told to all who do not wait', async () => {
  const { store, proxy } = await proxiedStore()
  const happened = proxy.cutAt('commit', 'before', 'insert into')
  const settled = await Promise.allSettled(SOME.map((id) => store.transact((db) => put(db, id), 'lane')))
  await happened
  expect(settled.map(({ status }) => status)).toEqual(SOME.map(() => 'rejected'))
  expect(await idsIn(store)).toEqual([])
})
