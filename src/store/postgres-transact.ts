import pg from 'pg'
import { StoreAway, StoreBusy } from './away.ts'
import { type Line, PLAN_IS_OLD } from './postgres-line.ts'
import type { ConnectionPool } from './postgres-pool.ts'
import { Shared } from './shared.ts'
import type { Db, Work } from './store.ts'

/** A transaction that was told to commit when the connection broke. */
export interface Cut<T> {
  xid: string
  value: T
}

export type OnCut<T> = (cut: Cut<T>) => void

const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const OTHERS_IN_THE_WAY = new Set<unknown>([DEADLOCK, SERIALIZATION])
const MOST_ATTEMPTS = 4

/** A transaction of one's own, once more where that is all that is needed. */
export async function transactAgain<T>(lines: ConnectionPool, work: Work<T>, onCut?: OnCut<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact(lines, work, onCut)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      const inTheWay = OTHERS_IN_THE_WAY.has(code)
      if (!inTheWay && code !== PLAN_IS_OLD) throw error
      if (attempt === MOST_ATTEMPTS) throw inTheWay ? new StoreBusy(error) : error
    }
  }
}

/** `onCut` hears of it when nobody can say whether the commit went through. */
export async function transact<T>(
  lines: ConnectionPool,
  work: (db: Db, shared: Shared, line: Line) => Promise<T>,
  onCut?: OnCut<T>,
): Promise<T> {
  const line = await lines.borrow()
  try {
    const begun = Promise.resolve(onCut ? line.beginKnown() : line.begin())
    // Whatever comes behind it fails with it.
    begun.catch(() => {})
    const shared = new Shared()
    const value = await work(line.db, shared, line).catch((error: unknown) => rollBack(line, error))
    await shared.finish(line.db).catch((error: unknown) => rollBack(line, error))
    // Heard before the commit is said: nobody could ask about a transaction without a number.
    const xid = await begun
    await line.commit().catch((error: unknown) => {
      if (error instanceof StoreAway && xid) onCut?.({ xid, value })
      return rollBack(line, error)
    })
    return value
  } finally {
    line.release()
  }
}

async function rollBack(line: Line, error: unknown): Promise<never> {
  // On a connection that is lost the server does it.
  await line.rollBack().catch(() => {})
  throw error
}
