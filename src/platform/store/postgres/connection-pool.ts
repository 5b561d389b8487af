import pg from 'pg'
import { classifyStoreError } from '../errors.ts'
import type { Db, PoolUse } from '../store.ts'
import { type ConnectionOwner, createPostgresKysely, PostgresConnection, STALE_PLAN_CODE } from './connection.ts'
import { destroyConnection } from './driver/destroy-connection.ts'
import { CONNECT_TIMEOUT_MS, type DatabaseServers } from './primary-client.ts'

export interface PoolLimits {
  connections: number
  /** After this time the server cancels a statement. */
  statementMs: number
}

/** A transaction awaits only the database, so an idle one has lost its replica and its locks must be released. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000
/** The driver waits longer than the server's own limit, because the server reports why it cancelled a statement. */
const GRACE_MS = 5_000

/** Not sent as start options, which a pooler refuses. Compiling a statement (`jit`) takes longer than running it. */
const sessionSettings = (statementMs: number) =>
  `set jit = off; set statement_timeout = ${statementMs};
    set idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`

/** Runs an attempt, and again if that is useful. */
export type Retry = <T>(attempt: () => Promise<T>) => Promise<T>
export const runOnce: Retry = (attempt) => attempt()

/** The connections of a replica. */
export class ConnectionPool implements ConnectionOwner {
  readonly pool: pg.Pool
  readonly #connections = new Map<pg.PoolClient, PostgresConnection>()
  readonly #names = new Map<string, string>()
  readonly warn: (message: string, error: unknown) => void

  constructor(
    servers: DatabaseServers,
    sessionName: string,
    { connections, statementMs }: PoolLimits,
    warn: (message: string, error: unknown) => void,
  ) {
    this.warn = warn
    this.pool = new pg.Pool({
      Client: servers.Client,
      application_name: sessionName,
      max: connections,
      query_timeout: statementMs + GRACE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // oxlint-disable-next-line no-misused-promises -- the pool awaits it, but its types do not declare that
      onConnect: (client) => client.query(sessionSettings(statementMs)),
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_TIMEOUT_MS,
    })
    // Without a listener an idle connection that the server drops would end the process.
    this.pool.on('error', (error) => warn('database connection lost', error))
    this.pool.on('connect', (client) => this.#connections.set(client, new PostgresConnection(client, this)))
    this.pool.on('remove', (client) => this.#connections.delete(client))
  }

  /** Names are never evicted: statements are constants of the code, so there are few. */
  statementName(text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `s${this.#generation}_${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  #generation = 0

  /** After a newer replica has changed the tables, every statement is prepared again under another name. */
  onStalePlan(): void {
    this.#generation++
    this.#names.clear()
  }

  /** Ends all connections, so that every statement that waits for a response fails at once. */
  destroyAll(): void {
    for (const client of this.#connections.keys()) destroyConnection(client)
  }

  use(): PoolUse {
    const { totalCount, idleCount, waitingCount, options } = this.pool
    return { busy: totalCount - idleCount, idle: idleCount, max: options.max, waiting: waitingCount }
  }

  /** A connection for one caller, until it is released. */
  async acquire(): Promise<PostgresConnection> {
    const client = await this.pool.connect().catch((error) => Promise.reject(classifyStoreError(error)))
    const connection = this.#connections.get(client)
    if (!connection) throw new Error('the pool returned an unknown connection')
    return connection
  }

  /**
   * For statements outside of a transaction: each takes a connection of its own. `retryRead` runs a read, and may run it
   * again.
   */
  createDb(retryRead: Retry): Db {
    const retryOf = (text: string) => (isRead(text) ? retryRead : runOnce)
    return createPostgresKysely(
      (text, values) => retryOf(text)(() => this.#queryPrepared(text, values)),
      // Each statement takes its own connection: transactions have another `Db`.
      async () => ({
        query: (text, values) =>
          retryOf(text)(() => this.#withConnection((connection) => connection.query({ text, values }))),
        release: () => {},
      }),
    )
  }

  /** When the database last responded to a statement, by the monotonic clock. */
  respondedAt = performance.now()

  async #withConnection<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.acquire()
    try {
      return await work(connection)
    } finally {
      connection.release()
    }
  }

  async #queryPrepared(text: string, values: readonly unknown[], isRetry = false): Promise<unknown[]> {
    try {
      return await this.#withConnection((connection) => connection.queryPrepared(text, values))
    } catch (error) {
      const isStale = error instanceof pg.DatabaseError && error.code === STALE_PLAN_CODE
      if (!isStale || isRetry) throw error
    }
    return this.#queryPrepared(text, values, true)
  }
}

/** A statement that begins with `with` may write. */
const isRead = (text: string) =>
  /^\s*(select|with)\b/i.test(text) && !/\b(insert\s+into|update|delete\s+from|merge\s+into)\b/i.test(text)
