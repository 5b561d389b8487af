import pg from 'pg'
import { classifyStoreError } from '../errors.ts'
import { destroyConnection } from './notify-listener.ts'
import { PreparedNames } from './prepared-names.ts'
import { ReadBatcher } from './read-batcher.ts'
import { createPostgresKysely, PostgresConnection } from './connection.ts'
import type { Db } from '../store.ts'

/** How many connections, and how long whoever waits for the database waits at most. */
export interface PoolLimits {
  connections: number
  statementMs: number
}

/** As long as a request may wait for a database that is not there. */
const CONNECT_TIMEOUT_MS = 5_000
/** A transaction awaits only the database: one that is silent has lost its service, and holds rows that others need. */
const IDLE_TRANSACTION_TIMEOUT_MS = 5_000
/** The server ends a statement first, unless nobody hears it any more. */
const GRACE_MS = 5_000

/** The connections of a replica. */
export class ConnectionPool {
  readonly pool: pg.Pool
  readonly #lines = new Map<pg.PoolClient, PostgresConnection>()
  readonly #kept = new PreparedNames()

  constructor(url: string, { connections, statementMs }: PoolLimits, warn: (message: string, error: unknown) => void) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      statement_timeout: statementMs,
      query_timeout: statementMs + GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // To compile a statement takes longer than ours run. Said here, because a pooler refuses it at the start.
      // oxlint-disable-next-line no-misused-promises -- the pool waits for it, only its types do not say so
      onConnect: (client) => client.query('set jit = off'),
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_TIMEOUT_MS,
    })
    // Without listeners a connection that the server drops would end the process, whether it is lent or idle.
    this.pool.on('error', (error) => warn('database connection lost', error))
    this.pool.on('connect', (client) => {
      this.#lines.set(client, new PostgresConnection(client, this.#kept, warn))
      client.on('error', () => {})
    })
    this.pool.on('remove', (client) => this.#lines.delete(client))
  }

  /** Believes no connection any more: whoever waits on one hears at once that it is lost. */
  destroyAll(): void {
    for (const client of this.#lines.keys()) destroyConnection(client)
  }

  /** A line for one, until it is released. */
  async acquire(): Promise<PostgresConnection> {
    const client = await this.pool.connect().catch((error) => Promise.reject(classifyStoreError(error)))
    const line = this.#lines.get(client)
    if (!line) throw new Error('a connection was lent that nobody has seen')
    return line
  }

  /** For statements that stand alone: each takes a line of its own, or goes with others that are answered at once. */
  readonly db: Db = createPostgresKysely(
    (text, values, how) => (how === 'glance' ? this.#glances.read(text, values) : this.#alone(text, values)),
    async () => {
      const line = await this.acquire()
      return { query: (text, values) => line.query(text, values), release: () => line.release() }
    },
  )

  readonly #glances = new ReadBatcher(
    (questions) => this.#onOne((line) => line.queryBatch(questions)),
    (text, values) => this.#alone(text, values),
  )

  #alone(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return this.#onOne((line) => line.queryRows(text, values))
  }

  async #onOne<T>(work: (line: PostgresConnection) => Promise<T>): Promise<T> {
    const line = await this.acquire()
    try {
      return await work(line)
    } finally {
      line.release()
    }
  }
}
