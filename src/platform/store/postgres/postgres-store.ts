import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { classifyStoreError, resolveWithin, retryUntilAvailable, StoreUnavailable } from '../errors.ts'
import { NotifyListener } from './notify-listener.ts'
import { migrateStore } from '../schema/migrations.ts'
import { ConnectionPool, type PoolLimits, type Retry, runOnce } from './connection-pool.ts'
import { updateReadableViews } from './readable-views.ts'
import { refuseTransactionPooler } from './refuse-transaction-pooler.ts'
import { createRequestRetry, Transactions } from './transactions.ts'
import { DatabaseServers } from './primary-client.ts'
import type { Store, TransactionWork } from '../store.ts'
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
  const servers = new DatabaseServers(url)
  await servers.findPrimary()
  await migrateOnce(servers, `svc/${replica} migration`, warn)
  const connections = new ConnectionPool(servers, `svc/${replica} pool`, limits, warn)
  const { pool } = connections
  const db = connections.createDb(runOnce)
  const transactions = new Transactions(connections)
  const clock = new StoreClock()
  // Waits for the database, because the migrations have just reached it.
  await retryUntilAvailable(() => syncClock(pool, clock))
  const listener = new NotifyListener({
    servers,
    sessionName: `svc/${replica} listener`,
    pool,
    clock,
    warn,
    onTimeout: () => connections.destroyAll(),
    peerTimeoutMs: PEER_TIMEOUT_MS,
  })
  const store: Store = {
    kind: 'postgres',
    db,
    lists: db,
    transact: (work, group) => transactions.run(work, group),
    transactDurably: (work, signal, group) =>
      transactions.runDurably((attempt) => retryUntilAvailable(attempt, signal), work, group),
    forRequests: (waitMs, signal) =>
      waitMs === 0
        ? store
        : createRequestStore(store, connections, transactions, createRequestRetry(connections, waitMs, signal)),
    now: () => clock.now(),
    // The server groups commits by itself.
    commitMs: () => 0,
    poolUse: () => connections.use(),
    releaseSpace: null,
    async ping() {
      if (!(await resolveWithin(PING_TIMEOUT_MS, pool.query('select 1'))))
        throw new StoreUnavailable(`no response within ${PING_TIMEOUT_MS} ms`)
    },
    publish: (topics) => listener.publish(topics),
    subscribe: (onTopic) => void listener.listen(onTopic),
    async close() {
      listener.close()
      await db.destroy()
      const ended = pool.end().then(() => true)
      if (!(await resolveWithin(CLOSE_TIMEOUT_MS, ended))) connections.destroyAll()
    },
  }
  return store
}

/** The store of requests, which wait for an unavailable database. */
function createRequestStore(store: Store, connections: ConnectionPool, transactions: Transactions, retry: Retry) {
  const db = connections.createDb(retry)
  return {
    ...store,
    db,
    lists: db,
    transact: <T>(work: TransactionWork<T>, group?: string) => transactions.runDurably(retry, work, group),
  }
}

const PING_TIMEOUT_MS = 3_000
/** Longer than several heartbeats of the other replica. */
const PEER_TIMEOUT_MS = 10_000
/** How long running statements may take when the process stops. */
const CLOSE_TIMEOUT_MS = 3_000

/** Building an index on a large table takes long. */
async function migrateOnce(servers: DatabaseServers, application_name: string, warn: Warn): Promise<void> {
  const pool = servers.openSingleConnection(application_name)
  try {
    await useClient(pool, (client) => refuseTransactionPooler(client, new servers.Client({ application_name })))
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    await migrateStore(db)
    await useClient(pool, updateReadableViews).catch((error) =>
      warn('the views for SQL tools could not be updated', error),
    )
  } finally {
    await pool.end()
  }
}

async function useClient(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  await work(client).finally(() => client.release())
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
