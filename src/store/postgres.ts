import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { migrate } from './migrations.ts'
import type { Db, Store } from './store.ts'
import type { Tables } from './tables.ts'

type Warn = (message: string, error: unknown) => void

/** Any number of replicas share one PostgreSQL; bells cross between them by NOTIFY. */
export async function openPostgres(url: string, warn: Warn): Promise<Store> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const pool = new pg.Pool({
    connectionString: url,
    max: 20,
    statement_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
  })
  // Without a listener an idle connection that the server drops would end the process.
  pool.on('error', (error) => warn('database connection lost', error))
  const db: Db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  await migrate(db)
  const wire = new BellWire(url, pool, warn)
  return {
    kind: 'postgres',
    db,
    transact: (work) => transactAgain(db, work),
    // The server gathers commits by itself.
    commitMs: () => 0,
    async ping() {
      await pool.query('select 1')
    },
    tell: (topics) => wire.tell(topics),
    hear: (listener) => wire.hear(listener),
    async close() {
      await wire.close()
      await db.destroy()
    },
  }
}

const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const MOST_ATTEMPTS = 4

async function transactAgain<T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      if ((code !== DEADLOCK && code !== SERIALIZATION) || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

const CHANNEL = 'svc_bells'
const MOST_PAYLOAD = 7_000
const RECONNECT_MS = 500

/**
 * Told after the commit and outside of it: NOTIFY inside a transaction takes a lock that all commits of the database
 * share. What a crash swallows is found by polling.
 */
class BellWire {
  #topics = new Set<string>()
  #sending = false
  #closed = false
  #listener: pg.Client | null = null
  /** Marks what this replica told, so that it does not hear itself. */
  readonly #origin = randomUUID()
  readonly #url: string
  readonly #pool: pg.Pool
  readonly #warn: Warn

  constructor(url: string, pool: pg.Pool, warn: Warn) {
    this.#url = url
    this.#pool = pool
    this.#warn = warn
  }

  tell(topics: string[]): void {
    for (const topic of topics) this.#topics.add(topic)
    if (!this.#sending && !this.#closed) void this.#send()
  }

  async #send(): Promise<void> {
    this.#sending = true
    await new Promise(setImmediate)
    while (this.#topics.size > 0 && !this.#closed) {
      const payload = `${this.#origin} ${takeUpTo(this.#topics, MOST_PAYLOAD)}`
      await this.#pool
        .query('select pg_notify($1, $2)', [CHANNEL, payload])
        .catch((error) => this.#warn('bells not told', error))
    }
    this.#sending = false
  }

  hear(listener: (topic: string) => void): void {
    const client = new pg.Client({ connectionString: this.#url })
    this.#listener = client
    client.on('notification', ({ payload }) => {
      const [origin, ...topics] = payload?.split(' ') ?? []
      if (origin !== this.#origin) for (const topic of topics) listener(topic)
    })
    client.on('error', (error) => this.#warn('bells not heard', error))
    client.once('end', () => {
      if (!this.#closed) setTimeout(() => this.#closed || this.hear(listener), RECONNECT_MS).unref()
    })
    client
      .connect()
      .then(() => client.query(`listen ${CHANNEL}`))
      .catch((error) => {
        this.#warn('bells not heard', error)
        client.end().catch(() => {})
      })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#listener?.end().catch(() => {})
  }
}

/** Moves topics out of the set until the payload is full. Topics contain no blanks. */
function takeUpTo(topics: Set<string>, most: number): string {
  let payload = ''
  for (const topic of topics) {
    if (payload.length + topic.length + 1 > most) break
    payload = payload ? `${payload} ${topic}` : topic
    topics.delete(topic)
  }
  return payload
}
