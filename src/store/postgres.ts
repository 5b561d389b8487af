import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { StoreAway, toldApart, untilBack } from './away.ts'
import { answeredIn, BellWire } from './bell-wire.ts'
import { migrate } from './migrations.ts'
import { type Line, PLAN_IS_OLD } from './postgres-line.ts'
import { ConnectionPool, type PoolLimits } from './postgres-pool.ts'
import type { Db, Store } from './store.ts'
import { StoreClock, WHAT_TIME } from './store-clock.ts'
import type { Tables } from './tables.ts'

type Warn = (message: string, error: unknown) => void

export const POOL_LIMITS: PoolLimits = { connections: 20, statementMs: 30_000 }

/** Any number of replicas share one PostgreSQL; bells cross between them by NOTIFY. */
export async function openPostgres(url: string, warn: Warn, limits = POOL_LIMITS): Promise<Store> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  await migrateOnce(url)
  const connections = new ConnectionPool(url, limits, warn)
  const { pool, db } = connections
  const clock = new StoreClock()
  await tellTime(pool, clock)
  const wire = new BellWire({ url, pool, clock, warn, silent: () => connections.drop(), companyMs: COMPANY_MS })
  return {
    kind: 'postgres',
    db,
    transact: (work) => transactAgain(connections, work),
    outlast: (work, signal) => outlast(connections, work, signal),
    now: () => clock.now(),
    // The server gathers commits by itself.
    commitMs: () => 0,
    async ping() {
      if (!(await answeredIn(PING_MS, pool.query('select 1')))) throw new StoreAway(`no answer in ${PING_MS} ms`)
    },
    tell: (topics) => wire.tell(topics),
    hear: (listener) => void wire.hear(listener),
    async close() {
      wire.close()
      await db.destroy()
      if (
        !(await answeredIn(
          LAST_MS,
          pool.end().then(() => true),
        ))
      )
        connections.drop()
    },
  }
}

const PING_MS = 3_000
/** Several pulses. */
const COMPANY_MS = 10_000
/** What is still asked when the process goes. */
const LAST_MS = 3_000

/** On a connection of its own: to build an index on much data may take its time. */
async function migrateOnce(url: string): Promise<void> {
  const db: Db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  })
  try {
    await migrate(db)
  } finally {
    await db.destroy()
  }
}

async function tellTime(pool: pg.Pool, clock: StoreClock): Promise<void> {
  await pool.query('select 1')
  const asked = performance.now()
  const { rows } = await pool.query<{ ms: number }>(WHAT_TIME)
  clock.heard(rows[0]?.ms ?? Date.now(), asked, performance.now())
}

const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const ANOTHER_TRY = new Set([DEADLOCK, SERIALIZATION, PLAN_IS_OLD])
const MOST_ATTEMPTS = 4

type Work<T> = (db: Db) => Promise<T>

/** A transaction that was told to commit when the connection broke. */
interface Cut<T> {
  xid: string
  value: T
}

async function transactAgain<T>(lines: ConnectionPool, work: Work<T>, cut?: (cut: Cut<T>) => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(lines, work, cut)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      if (!ANOTHER_TRY.has(code ?? '') || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

async function transact<T>(lines: ConnectionPool, work: Work<T>, cut?: (cut: Cut<T>) => void): Promise<T> {
  const line = await lines.borrow()
  try {
    const begun = Promise.resolve(cut ? line.beginKnown() : line.begin())
    // Whatever comes behind it fails with it.
    begun.catch(() => {})
    const value = await work(line.db).catch((error: unknown) => rollBack(line, error))
    // Heard before the commit is said: nobody could ask about a transaction without a number.
    const xid = await begun
    const { command } = await line.ask('commit').catch((error: unknown) => {
      if (error instanceof StoreAway && xid) cut?.({ xid, value })
      throw error
    })
    if (command !== 'COMMIT') throw new Error(`a commit was answered with ${command}`)
    return value
  } finally {
    line.release()
  }
}

async function rollBack(line: Line, error: unknown): Promise<never> {
  // On a connection that is lost the server does it.
  await line.ask('rollback').catch(() => {})
  throw error
}

/**
 * Does the work once, however long the store is away. When the connection breaks during the commit, the server is asked
 * afterwards what became of that very transaction; only one that is not there is done again.
 */
function outlast<T>(lines: ConnectionPool, work: Work<T>, signal?: AbortSignal): Promise<T> {
  let last: Cut<T> | null = null
  return untilBack(async () => {
    if (last && (await committed(lines.pool, last.xid))) return last.value
    last = null
    return transactAgain(lines, work, (cut) => {
      last = cut
    })
  }, signal)
}

async function committed(pool: pg.Pool, xid: string): Promise<boolean> {
  const asking = pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [xid])
  const { rows } = await asking.catch((error) => {
    throw toldApart(error)
  })
  // It has not noticed yet that it is alone.
  if (rows[0]?.status === 'in progress') throw new StoreAway('a commit is still under way')
  return rows[0]?.status === 'committed'
}
