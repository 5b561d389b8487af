import pg from 'pg'
import { StoreUnavailable, StoreBusy } from '../errors.ts'
import { type PostgresConnection, STALE_PLAN_CODE } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { GroupCommitState } from '../group-commit-state.ts'
import type { Db, TransactionWork } from '../store.ts'

/** A transaction that was told to commit when the connection broke. */
export interface InterruptedCommit<T> {
  xid: string
  value: T
}

export type OnInterruptedCommit<T> = (cut: InterruptedCommit<T>) => void

const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const RETRYABLE_CODES = new Set<unknown>([DEADLOCK, SERIALIZATION])
const MAX_ATTEMPTS = 4

/** A transaction of one's own, once more where that is all that is needed. */
export async function runTransactionWithRetry<T>(
  lines: ConnectionPool,
  work: TransactionWork<T>,
  onCut?: OnInterruptedCommit<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runTransaction(lines, work, onCut)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      const inTheWay = RETRYABLE_CODES.has(code)
      if (!inTheWay && code !== STALE_PLAN_CODE) throw error
      if (attempt === MAX_ATTEMPTS) throw inTheWay ? new StoreBusy(error) : error
    }
  }
}

/** `onCut` hears of it when nobody can say whether the commit went through. */
export async function runTransaction<T>(
  lines: ConnectionPool,
  work: (db: Db, shared: GroupCommitState, line: PostgresConnection) => Promise<T>,
  onCut?: OnInterruptedCommit<T>,
): Promise<T> {
  const line = await lines.acquire()
  try {
    const begun = Promise.resolve(onCut ? line.beginWithId() : line.begin())
    // Whatever comes behind it fails with it.
    begun.catch(() => {})
    const shared = new GroupCommitState()
    const value = await work(line.db, shared, line).catch((error: unknown) => rollBack(line, error))
    await shared.runDeferredWrites(line.db).catch((error: unknown) => rollBack(line, error))
    // Heard before the commit is said: nobody could ask about a transaction without a number.
    const xid = await begun
    await line.commit().catch((error: unknown) => {
      if (error instanceof StoreUnavailable && xid) onCut?.({ xid, value })
      return rollBack(line, error)
    })
    return value
  } finally {
    line.release()
  }
}

async function rollBack(line: PostgresConnection, error: unknown): Promise<never> {
  // On a connection that is lost the server does it.
  await line.rollBack().catch(() => {})
  throw error
}
