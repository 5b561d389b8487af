import { callbackify } from 'node:util'
import pg from 'pg'
import { listDatabaseServers } from '../../contract/database-url.ts'
import { resolveWithin, StoreUnavailable } from '../errors.ts'
import { destroyConnection } from './driver/destroy-connection.ts'

/** How long a connection to one of the servers may take. */
export const CONNECT_TIMEOUT_MS = 5_000

/**
 * The servers that `DATABASE_URL` names. At most one of them is the primary server, which accepts writes; the others are
 * standby servers. After a failover another one is the primary server.
 */
export class DatabaseServers {
  readonly #urls: string[]
  #next = 0

  constructor(url: string) {
    this.#urls = listDatabaseServers(url)
  }

  /** The client for all connections to this database, as an option of the driver's pool. */
  readonly Client = createClientClass(this)

  /** One connection without a time limit for statements, for work that takes long. */
  openSingleConnection(application_name: string): pg.Pool {
    const pool = new pg.Pool({ Client: this.Client, application_name, max: 1 })
    pool.on('error', () => {})
    return pool
  }

  get hasStandby(): boolean {
    return this.#urls.length > 1
  }

  /** Looks for the primary server, for callers that connect only once. */
  async findPrimary(): Promise<void> {
    for (let left = this.hasStandby ? this.#urls.length : 0; left > 0; left--) {
      const client = new this.Client({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
      try {
        await client.connect()
        return await client.end()
      } catch (error) {
        if (left === 1) throw error
      }
    }
  }

  /** Where the next client connects to. */
  choose(): string {
    return this.#urls[this.#next] ?? ''
  }

  /** The next client tries the next server. Many clients may report the same server, which counts once. */
  leave(url: string): void {
    if (this.choose() === url) this.#next = (this.#next + 1) % this.#urls.length
  }
}

type ConnectCallback = Parameters<pg.Client['connect']>[0]

/** Clients that connect to the primary server; the driver itself knows only one host. */
const createClientClass = (servers: DatabaseServers) =>
  class PrimaryClient extends pg.Client {
    readonly #url: string

    constructor(config: pg.ClientConfig = {}) {
      const url = servers.choose()
      super({ ...config, connectionString: url })
      this.#url = url
      // The statement that runs, or the next one, fails when the connection is lost. Without a listener the process would end.
      this.on('error', () => {})
    }

    override connect(): Promise<this>
    override connect(callback: ConnectCallback): void
    override connect(callback?: ConnectCallback): unknown {
      const connected = servers.hasStandby ? this.#connectToPrimary() : super.connect()
      return callback ? callbackify(() => connected)(callback as (error: Error | null) => void) : connected
    }

    async #connectToPrimary(): Promise<pg.Client> {
      try {
        const client = await super.connect()
        const state = this.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')
        const result = await resolveWithin(CONNECT_TIMEOUT_MS, state)
        if (result && !result.rows[0]?.is_standby) return client
        // Without a listener, the end of the connection would end the process.
        this.on('error', () => {})
        destroyConnection(this)
        throw new StoreUnavailable(result ? 'the server is a standby' : 'the server does not respond')
      } catch (error) {
        servers.leave(this.#url)
        throw error
      }
    }
  }
