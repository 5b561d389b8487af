import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { classifyStoreError, isUnreachable, resolveWithin, retryUntilAvailable, StoreUnavailable } from '../errors.ts'
import { type CommitMark, GroupCommit, type InterruptedCommit, type OnInterruptedCommit } from '../group-commit.ts'
import { LOOK_UP_COMMIT_MARK } from './commit-mark.ts'
import { NotifyListener } from './notify-listener.ts'
import { migrateStore } from '../schema/migrations.ts'
import { prepareEventPartitions } from '../schema/partition-events.ts'
import { ConnectionPool, type PoolLimits } from './connection-pool.ts'
import { PostgresEventPartitions } from './event-partitions.ts'
import { runTransaction } from './transaction.ts'
import type { Db, Store, TransactionWork } from '../store.ts'
import { StoreClock, SELECT_DATABASE_TIME } from './store-clock.ts'
import type { Tables } from '../tables.ts'

type Warn = (message: string, error: unknown) => void

export const POOL_LIMITS: PoolLimits = { connections: 20, statementMs: 30_000 }

/** `replica` is part of the names of the sessions, so that an administrator can tell them apart. */
interface PostgresStoreOptions {
  limits?: PoolLimits
  replica?: string | undefined
}

/** Any number of replicas share one PostgreSQL database. */
export async function openPostgresStore(
  url: string,
  warn: Warn,
  { limits = POOL_LIMITS, replica = 'tool' }: PostgresStoreOptions = {},
): Promise<Store> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  await migrateOnce(url, `svc/${replica} migration`)
  const eventPartitions = new PostgresEventPartitions(url, `svc/${replica} partitions`)
  const connections = new ConnectionPool(url, `svc/${replica} pool`, limits, warn, eventPartitions.tableOf)
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
  // Waits for the database, because the migrations have just reached it.
  await retryUntilAvailable(() => Promise.all([syncClock(pool, clock), eventPartitions.load(db)]))
  const notifications = new NotifyListener({
    url,
    sessionName: `svc/${replica} listener`,
    pool,
    clock,
    warn,
    onTimeout: () => connections.destroyAll(),
    peerTimeoutMs: PEER_TIMEOUT_MS,
  })
  return {
    kind: 'postgres',
    db,
    readSnapshot: (work) =>
      runTransaction(connections, async ({ db }) => {
        await sql`set transaction isolation level repeatable read, read only`.execute(db)
        return work(db)
      }),
    transact,
    transactDurably: (work, signal, group) =>
      runDurably(pool, (onInterrupted) => transact(work, group, onInterrupted), signal),
    now: () => clock.now(),
    // The server groups commits by itself.
    commitMs: () => 0,
    poolUse: () => connections.use(),
    eventPartitions,
    releaseSpace: null,
    async ping() {
      if (!(await resolveWithin(PING_TIMEOUT_MS, pool.query('select 1'))))
        throw new StoreUnavailable(`no response within ${PING_TIMEOUT_MS} ms`)
    },
    notify: (topics) => notifications.notify(topics),
    subscribe: (listener) => void notifications.listen(listener),
    async close() {
      notifications.close()
      await db.destroy()
      const ended = pool.end().then(() => true)
      if (!(await resolveWithin(CLOSE_TIMEOUT_MS, ended))) connections.destroyAll()
    },
  }
}

/** The first transaction of a batch waits for the last. */
const MAX_BATCH = 32
const PING_TIMEOUT_MS = 3_000
/** Longer than several heartbeats of the other replica. */
const PEER_TIMEOUT_MS = 10_000
/** How long running statements may take when the process stops. */
const CLOSE_TIMEOUT_MS = 3_000

/** Uses a connection without a statement timeout, because building an index on a large table takes long. */
async function migrateOnce(url: string, application_name: string): Promise<void> {
  const db: Db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, application_name, max: 1 }) }),
  })
  try {
    await prepareEventPartitions(db)
    await migrateStore(db)
  } finally {
    await db.destroy()
  }
}

async function syncClock(pool: pg.Pool, clock: StoreClock): Promise<void> {
  try {
    await pool.query('select 1')
    const sentAt = performance.now()
    const { rows } = await pool.query<{ ms: number }>(SELECT_DATABASE_TIME)
    clock.sync(rows[0]?.ms ?? Date.now(), sentAt, performance.now())
  } catch (error) {
    throw classifyStoreError(error)
  }
}

/**
 * Retries the transaction while the store is unavailable, but commits it once: after a connection broke during the
 * commit, it looks up the mark that the transaction wrote, and repeats only a transaction that was not committed.
 */
function runDurably<T>(
  pool: pg.Pool,
  transact: (onInterrupted: OnInterruptedCommit<T>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let interrupted: InterruptedCommit<T> | null = null
  return retryUntilAvailable(async () => {
    if (interrupted && (await isCommitted(pool, interrupted.mark))) return interrupted.value
    interrupted = null
    return transact((commit) => {
      interrupted = commit
    })
  }, signal)
}

async function isCommitted(pool: pg.Pool, { connection, number }: CommitMark): Promise<boolean> {
  const values = [connection, number + 1, new Date().toISOString()]
  const query = pool.query<{ number: number }>(LOOK_UP_COMMIT_MARK, values)
  const { rows } = await query.catch((error) => {
    throw classifyStoreError(error)
  })
  return rows[0]?.number === number
}
