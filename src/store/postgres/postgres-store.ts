import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { classifyStoreError, isUnreachable, resolveWithin, retryUntilAvailable, StoreUnavailable } from '../errors.ts'
import { GroupCommit, type InterruptedCommit, type OnInterruptedCommit } from '../group-commit.ts'
import { NotifyListener } from './notify-listener.ts'
import { migrateStore } from '../schema/migrations.ts'
import { ConnectionPool, type PoolLimits } from './connection-pool.ts'
import { runTransaction } from './transaction.ts'
import type { Db, Store, TransactionWork } from '../store.ts'
import { StoreClock, SELECT_DATABASE_TIME } from './store-clock.ts'
import type { Tables } from '../tables.ts'

type Warn = (message: string, error: unknown) => void

export const POOL_LIMITS: PoolLimits = { connections: 20, statementMs: 30_000 }

/** Any number of replicas share one PostgreSQL; bells cross between them by NOTIFY. */
export async function openPostgresStore(url: string, warn: Warn, limits = POOL_LIMITS): Promise<Store> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  await migrateOnce(url)
  const connections = new ConnectionPool(url, limits, warn)
  const { pool, db } = connections
  const commits = new GroupCommit({
    maxBatch: MAX_BATCH,
    runTransaction: (work, onInterrupted) => runTransaction(connections, work, onInterrupted),
    canRetry: (error) => !isUnreachable(error),
  })
  const transact = <T>(work: TransactionWork<T>, group?: string, onInterrupted?: OnInterruptedCommit<T>) =>
    group === undefined
      ? runTransaction(connections, ({ db }, state) => work(db, state), onInterrupted)
      : commits.transact(group, work, onInterrupted)
  const clock = new StoreClock()
  // It was there a moment ago, for the migrations: one that is busy now is waited for.
  await retryUntilAvailable(() => syncClock(pool, clock))
  const wire = new NotifyListener({
    url,
    pool,
    clock,
    warn,
    onTimeout: () => connections.destroyAll(),
    peerTimeoutMs: PEER_TIMEOUT_MS,
  })
  return {
    kind: 'postgres',
    db,
    transact,
    transactDurably: (work, signal, group) =>
      runDurably(pool, (onInterrupted) => transact(work, group, onInterrupted), signal),
    now: () => clock.now(),
    // The server gathers commits by itself.
    commitMs: () => 0,
    async ping() {
      if (!(await resolveWithin(PING_TIMEOUT_MS, pool.query('select 1'))))
        throw new StoreUnavailable(`no answer in ${PING_TIMEOUT_MS} ms`)
    },
    notify: (topics) => wire.notify(topics),
    subscribe: (listener) => void wire.listen(listener),
    async close() {
      wire.close()
      await db.destroy()
      if (
        !(await resolveWithin(
          CLOSE_TIMEOUT_MS,
          pool.end().then(() => true),
        ))
      )
        connections.destroyAll()
    },
  }
}

/** The first transaction of a batch waits for the last. */
const MAX_BATCH = 32
const PING_TIMEOUT_MS = 3_000
/** Several pulses. */
const PEER_TIMEOUT_MS = 10_000
/** What is still asked when the process goes. */
const CLOSE_TIMEOUT_MS = 3_000

/** On a connection of its own: to build an index on much data may take its time. */
async function migrateOnce(url: string): Promise<void> {
  const db: Db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  })
  try {
    await migrateStore(db)
  } finally {
    await db.destroy()
  }
}

async function syncClock(pool: pg.Pool, clock: StoreClock): Promise<void> {
  try {
    await pool.query('select 1')
    const asked = performance.now()
    const { rows } = await pool.query<{ ms: number }>(SELECT_DATABASE_TIME)
    clock.sync(rows[0]?.ms ?? Date.now(), asked, performance.now())
  } catch (error) {
    throw classifyStoreError(error)
  }
}

/**
 * Does the work once, however long the store is away. When the connection breaks during the commit, the server is asked
 * afterwards what became of that very transaction; only one that is not there is done again.
 */
function runDurably<T>(
  pool: pg.Pool,
  transact: (onCut: OnInterruptedCommit<T>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let last: InterruptedCommit<T> | null = null
  return retryUntilAvailable(async () => {
    if (last && (await isCommitted(pool, last.xid))) return last.value
    last = null
    return transact((cut) => {
      last = cut
    })
  }, signal)
}

async function isCommitted(pool: pg.Pool, xid: string): Promise<boolean> {
  const asking = pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [xid])
  const { rows } = await asking.catch((error) => {
    throw classifyStoreError(error)
  })
  // It has not noticed yet that it is alone.
  if (rows[0]?.status === 'in progress') throw new StoreUnavailable('a commit is still under way')
  return rows[0]?.status === 'committed'
}
