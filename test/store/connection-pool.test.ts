import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/errors.ts'
import type { Db, Store } from '../../src/store/store.ts'
import { openTableLock } from '../faults/table-lock.ts'
import { eventually } from '../runs/scripted-agent.ts'
import { proxiedStore } from './proxied-store.ts'

const IDS = Array.from({ length: 20 }, (_, n) => `r${String(n).padStart(2, '0')}`)
const STOPPED_BY_THE_SERVER = { cause: { code: '57014' } }

const put = (db: Db, id: string) => db.insertInto('replicas').values({ id, started_at: '', seen_at: '' }).execute()
const idsIn = async ({ db }: Store) =>
  (await db.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id)

/** Which connection it is, as the server counts them. */
async function connection(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

async function writeForever(db: Db): Promise<void> {
  await put(db, 'lost')
  await sql`select pg_sleep(3600)`.execute(db)
}

const WAYS: [string, (store: Store) => Promise<unknown>][] = [
  ['that stands alone', ({ db }) => sql`select pg_sleep(3600)`.execute(db)],
  ['of a transaction', (store) => store.transact(writeForever)],
  ['that nobody waits for any more', (store) => store.transactDurably(writeForever, AbortSignal.abort())],
]

test.each(WAYS)(
  'the database ends a statement %s when it takes too long, and the next has its connection',
  async (_, ask) => {
    const { store, warned } = await proxiedStore({ connections: 1, statementMs: 1_000 })
    const before = await connection(store.db)
    const error = await ask(store).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject(STOPPED_BY_THE_SERVER)
    expect(warned).toEqual(['the database gave up on a statement'])
    expect(await connection(store.db)).toBe(before)
    expect(await idsIn(store)).toEqual([])
  },
)

test.each([undefined, 'lane'])(
  'what must be written waits for whoever holds the table, however long a statement may take (lane: %s)',
  async (lane) => {
    const { store, proxy } = await proxiedStore({ connections: 4, statementMs: 300 })
    const { hold, release } = await openTableLock(proxy.url)
    await hold('replicas')
    const attempts = new Map<string, number>()
    const write = (id: string) => async (db: Db) => {
      attempts.set(id, (attempts.get(id) ?? 0) + 1)
      await put(db, id)
    }
    const writing = IDS.slice(0, 3).map((id) => store.transactDurably(write(id), undefined, lane))
    await eventually(() => [...attempts.values()].filter((tries) => tries > 2).length === 3)
    await release()
    await Promise.all(writing)
    expect(await idsIn(store)).toEqual(IDS.slice(0, 3))
  },
)

test.each(['40P01', '40001'])(
  'what must be written is tried until no other is in the way, and who asks is told to (%s)',
  async (code) => {
    const { store } = await proxiedStore()
    let attempts = 0
    const inTheWay = async (db: Db) => {
      await put(db, 'r')
      if (++attempts <= 8) await sql.raw(`do $$ begin raise sqlstate '${code}'; end $$`).execute(db)
    }
    await expect(store.transact(inTheWay)).rejects.toBeInstanceOf(StoreUnavailable)
    await store.transactDurably(inTheWay)
    expect([attempts, await idsIn(store)]).toEqual([9, ['r']])
  },
)

test('a transaction that takes too long leaves the others of its lane what they wrote', async () => {
  const { store } = await proxiedStore({ connections: 1, statementMs: 1_000 })
  const works = [...IDS.slice(0, 3).map((id) => (db: Db) => put(db, id)), writeForever]
  const settled = await Promise.allSettled(works.map((work) => store.transact<unknown>(work, 'lane')))
  expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: STOPPED_BY_THE_SERVER })
  expect(await idsIn(store)).toEqual(IDS.slice(0, 3))
})

test('while all connections are busy further statements wait for one, and none fails', async () => {
  const { store, proxy } = await proxiedStore({ connections: 2, statementMs: 30_000 })
  const { hold, waitForBlocked, release } = await openTableLock(proxy.url)
  await hold('replicas')
  const write = async (db: Db, id: string) => {
    await put(db, id)
    return connection(db)
  }
  const writing = IDS.map((id) => store.transact((db) => write(db, id)))
  await waitForBlocked(2)
  const reading = IDS.map(() => connection(store.db))
  await release()
  expect(new Set(await Promise.all([...writing, ...reading])).size).toBe(2)
  expect(await idsIn(store)).toEqual(IDS)
})
