import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/platform/store/errors.ts'
import type { Db, Store } from '../../../src/platform/store/store.ts'
import { openTableLock } from '../../faults/table-lock.ts'
import { eventually } from '../../execution/runs/scripted-agent.ts'
import { proxiedStore } from './proxied-store.ts'

const IDS = Array.from({ length: 20 }, (_, n) => `r${String(n).padStart(2, '0')}`)
const CANCELLED_BY_SERVER = { cause: { code: '57014' } }

const insertReplica = (db: Db, id: string) =>
  db.insertInto('replicas').values({ id, started_at: '', seen_at: '' }).execute()
const listIds = async ({ db }: Store) =>
  (await db.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id)

/** Identifies the connection that runs the statement. */
async function backendPid(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

async function writeForever(db: Db): Promise<void> {
  await insertReplica(db, 'lost')
  await sql`select pg_sleep(3600)`.execute(db)
}

const LONG_STATEMENTS: [string, (store: Store) => Promise<unknown>][] = [
  ['outside a transaction', ({ db }) => sql`select pg_sleep(3600)`.execute(db)],
  ['in a transaction', (store) => store.transact(writeForever)],
  [
    'in a durable transaction whose caller has aborted',
    (store) => store.transactDurably(writeForever, AbortSignal.abort()),
  ],
]

test.each(LONG_STATEMENTS)(
  'PostgreSQL cancels a statement %s that takes too long, and the next statement uses the same connection',
  async (_, runStatement) => {
    const { store, warnings } = await proxiedStore({ connections: 1, statementMs: 1_000 })
    const before = await backendPid(store.db)
    const error = await runStatement(store).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject(CANCELLED_BY_SERVER)
    expect(warnings).toEqual(['the database cancelled a statement'])
    expect(await backendPid(store.db)).toBe(before)
    expect(await listIds(store)).toEqual([])
  },
)

test.each([undefined, 'group'])(
  'a durable transaction waits for a locked table longer than the statement timeout (group: %s)',
  async (group) => {
    const { store, proxy } = await proxiedStore({ connections: 4, statementMs: 300 })
    const { hold, release } = await openTableLock(proxy.url)
    await hold('replicas')
    const attempts = new Map<string, number>()
    const write = (id: string) => async (db: Db) => {
      attempts.set(id, (attempts.get(id) ?? 0) + 1)
      await insertReplica(db, id)
    }
    const writing = IDS.slice(0, 3).map((id) => store.transactDurably(write(id), undefined, group))
    await eventually(() => [...attempts.values()].filter((count) => count > 2).length === 3)
    await release()
    await Promise.all(writing)
    expect(await listIds(store)).toEqual(IDS.slice(0, 3))
  },
)

test.each(['40P01', '40001'])(
  'after error %s a durable transaction is retried until it commits, and another transaction fails as unavailable',
  async (code) => {
    const { store } = await proxiedStore()
    let attempts = 0
    const failEightTimes = async (db: Db) => {
      await insertReplica(db, 'r')
      if (++attempts <= 8) await sql.raw(`do $$ begin raise sqlstate '${code}'; end $$`).execute(db)
    }
    await expect(store.transact(failEightTimes)).rejects.toBeInstanceOf(StoreUnavailable)
    await store.transactDurably(failEightTimes)
    expect([attempts, await listIds(store)]).toEqual([9, ['r']])
  },
)

test('a transaction that takes too long does not affect the other transactions of its group', async () => {
  const { store } = await proxiedStore({ connections: 1, statementMs: 1_000 })
  const works = [...IDS.slice(0, 3).map((id) => (db: Db) => insertReplica(db, id)), writeForever]
  const settled = await Promise.allSettled(works.map((work) => store.transact<unknown>(work, 'group')))
  expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: CANCELLED_BY_SERVER })
  expect(await listIds(store)).toEqual(IDS.slice(0, 3))
})

test('statements wait while all connections are in use, and none of them fails', async () => {
  const { store, proxy } = await proxiedStore({ connections: 2, statementMs: 30_000 })
  const { hold, waitForBlocked, release } = await openTableLock(proxy.url)
  await hold('replicas')
  const write = async (db: Db, id: string) => {
    await insertReplica(db, id)
    return backendPid(db)
  }
  const writing = IDS.map((id) => store.transact((db) => write(db, id)))
  await waitForBlocked(2)
  const reading = IDS.map(() => backendPid(store.db))
  await release()
  expect(new Set(await Promise.all([...writing, ...reading])).size).toBe(2)
  expect(await listIds(store)).toEqual(IDS)
})
