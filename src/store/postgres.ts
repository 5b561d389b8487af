import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { answeredIn, StoreAway, toldApart, untilBack } from './away.ts'
import { BellWire } from './bell-wire.ts'
import { migrate } from './migrations.ts'
import { Lanes } from './postgres-lanes.ts'
import { ConnectionPool, type PoolLimits } from './postgres-pool.ts'
import { type Cut, type OnCut, transactAgain } from './postgres-transact.ts'
import type { Db, Store, Work } from './store.ts'
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
  const lanes = new Lanes(connections)
  const transact = <T>(work: Work<T>, lane?: string, onCut?: OnCut<T>) =>
    lane === undefined ? transactAgain(connections, work, onCut) : lanes.transact(lane, work, onCut)
  const clock = new StoreClock()
  // It was there a moment ago, for the migrations: one that is busy now is waited for.
  await untilBack(() => tellTime(pool, clock))
  const wire = new BellWire({ url, pool, clock, warn, silent: () => connections.drop(), companyMs: COMPANY_MS })
  return {
    kind: 'postgres',
    db,
    transact,
    outlast: (work, signal, lane) => outlast(pool, (onCut) => transact(work, lane, onCut), signal),
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
  try {
    await pool.query('select 1')
    const asked = performance.now()
    const { rows } = await pool.query<{ ms: number }>(WHAT_TIME)
    clock.heard(rows[0]?.ms ?? Date.now(), asked, performance.now())
  } catch (error) {
    throw toldApart(error)
  }
}

/**
 * Does the work once, however long the store is away. When the connection breaks during the commit, the server is asked
 * afterwards what became of that very transaction; only one that is not there is done again.
 */
function outlast<T>(pool: pg.Pool, transact: (onCut: OnCut<T>) => Promise<T>, signal?: AbortSignal): Promise<T> {
  let last: Cut<T> | null = null
  return untilBack(async () => {
    if (last && (await committed(pool, last.xid))) return last.value
    last = null
    return transact((cut) => {
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
