import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { StoreAway, toldApart, untilBack } from './away.ts'
import { answeredIn, BellWire } from './bell-wire.ts'
import { migrate } from './migrations.ts'
import { ConnectionPool, PLAN_IS_OLD, type PoolLimits } from './postgres-pool.ts'
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
  const { pool } = connections
  const db: Db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connections.lending() }) })
  const clock = new StoreClock()
  await tellTime(pool, clock)
  const wire = new BellWire({ url, pool, clock, warn, silent: () => connections.drop() })
  return {
    kind: 'postgres',
    db,
    transact: (work) => transactAgain(db, work),
    outlast: (work, signal) => outlast(pool, db, work, signal),
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

/** A transaction that was told to commit when the connection broke. */
interface Cut<T> {
  xid: string
  value: T
}

async function transactAgain<T>(db: Db, work: (db: Db) => Promise<T>, cut?: (cut: Cut<T>) => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(db, work, cut)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      if (!ANOTHER_TRY.has(code ?? '') || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

function transact<T>(db: Db, work: (db: Db) => Promise<T>, cut?: (cut: Cut<T>) => void): Promise<T> {
  return db.connection().execute(async (one) => {
    const xid = cut ? await beginKnown(one) : await say(one, 'begin')
    let value: T
    try {
      value = await work(one)
    } catch (error) {
      // On a connection that is lost the server does it.
      await say(one, 'rollback').catch(() => {})
      throw error
    }
    try {
      await say(one, 'commit')
    } catch (error) {
      if (error instanceof StoreAway && typeof xid === 'string') cut?.({ xid, value })
      throw error
    }
    return value
  })
}

/**
 * Does the work once, however long the store is away. When the connection breaks during the commit, the server is asked
 * afterwards what became of that very transaction; only one that is not there is done again.
 */
function outlast<T>(pool: pg.Pool, db: Db, work: (db: Db) => Promise<T>, signal?: AbortSignal): Promise<T> {
  let last: Cut<T> | null = null
  return untilBack(async () => {
    if (last && (await committed(pool, last.xid))) return last.value
    last = null
    return transactAgain(db, work, (cut) => {
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

async function say(one: Db, words: string): Promise<null> {
  await one.executeQuery(CompiledQuery.raw(words))
  return null
}

/** In one message with the begin, so that it costs no way of its own. */
async function beginKnown(one: Db): Promise<string> {
  const known = CompiledQuery.raw('begin; select pg_current_xact_id()::text as xid')
  const { rows } = await one.executeQuery<{ xid: string }>(known)
  return rows[0]?.xid ?? ''
}
