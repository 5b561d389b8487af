import type { PostgresPool } from 'kysely'
import pg from 'pg'
import { toldApart } from './away.ts'
import { hangUp } from './bell-wire.ts'
import { KeptStatements } from './kept-statements.ts'

/** How many connections, and how long whoever waits for the database waits at most. */
export interface PoolLimits {
  connections: number
  statementMs: number
}

/** As long as a request may wait for a database that is not there. */
const CONNECT_MS = 5_000
/** A transaction awaits only the database: one that is silent has lost its service, and holds rows that others need. */
const SILENT_TRANSACTION_MS = 5_000
/** The server ends a statement first, unless nobody hears it any more. */
const GRACE_MS = 5_000

/** The connections of a replica. */
export class ConnectionPool {
  readonly pool: pg.Pool
  readonly #clients = new Set<pg.PoolClient>()
  readonly #kept = new KeptStatements()

  constructor(url: string, { connections, statementMs }: PoolLimits, warn: (message: string, error: unknown) => void) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: connections,
      statement_timeout: statementMs,
      query_timeout: statementMs + GRACE_MS,
      idle_in_transaction_session_timeout: SILENT_TRANSACTION_MS,
      connectionTimeoutMillis: CONNECT_MS,
      // To compile a statement takes longer than ours run. Said here, because a pooler refuses it at the start.
      // oxlint-disable-next-line no-misused-promises -- the pool waits for it, only its types do not say so
      onConnect: (client) => client.query('set jit = off'),
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_MS,
    })
    // Without listeners a connection that the server drops would end the process, whether it is lent or idle.
    this.pool.on('error', (error) => warn('database connection lost', error))
    this.pool.on('connect', (client) => {
      this.#clients.add(client)
      client.on('error', () => {})
    })
    this.pool.on('remove', (client) => this.#clients.delete(client))
  }

  /** Believes no connection any more: whoever waits on one hears at once that it is lost. */
  drop(): void {
    for (const client of this.#clients) hangUp(client)
  }

  /** As Kysely wants it: errors told apart, and a connection that failed not lent again. */
  lending(): PostgresPool {
    const { pool } = this
    return {
      connect: async () => lend(await pool.connect().catch(rethrow), this.#kept),
      // Kysely ends only what it has used: whoever opened the pool closes it.
      end: async () => {},
    } as PostgresPool
  }
}

/** What PostgreSQL says when a kept statement would answer with other columns than it was planned for. */
export const PLAN_IS_OLD = '0A000'

function lend(client: pg.PoolClient, kept: KeptStatements) {
  let lost: Error | undefined
  return {
    async query(text: string, values: unknown[]) {
      try {
        return await ask(client, kept, text, values)
      } catch (error) {
        const told = toldApart(error)
        if (told !== error && told instanceof Error) lost = told
        throw told
      }
    },
    release: () => client.release(lost),
  }
}

async function ask(client: pg.PoolClient, kept: KeptStatements, text: string, values: unknown[]) {
  const name = values.length > 0 ? kept.nameOf(text) : undefined
  try {
    const answer: pg.QueryResult | pg.QueryResult[] = await client.query({ ...(name && { name }), text, values })
    // Of several statements in one message the last one answers.
    return Array.isArray(answer) ? answer.at(-1) : answer
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === PLAN_IS_OLD)) throw error
    kept.forget()
    // Inside a transaction it is too late: the whole of it is tried again.
    return client.query(text, values).catch(() => rethrow(error))
  }
}

function rethrow(error: unknown): never {
  throw toldApart(error)
}
