import pg from 'pg'
import { StoreBusy, StoreUnavailable } from '../errors.ts'
import type { OnInterruptedCommit, SessionWork } from '../group-commit.ts'
import { GroupCommitState } from '../group-commit-state.ts'
import { type PostgresConnection, STALE_PLAN_CODE } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'

const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const RETRYABLE_CODES = new Set<unknown>([DEADLOCK, SERIALIZATION_FAILURE])
const MAX_ATTEMPTS = 4

/**
 * Runs the work in a transaction, and again after a deadlock. `onInterrupted` is called when the connection breaks
 * during the commit, so that only the database knows the outcome.
 */
export async function runTransaction<T>(
  pool: ConnectionPool,
  work: SessionWork<T>,
  onInterrupted?: OnInterruptedCommit<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(pool, work, onInterrupted)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      const isBusy = RETRYABLE_CODES.has(code)
      if (!isBusy && code !== STALE_PLAN_CODE) throw error
      if (attempt === MAX_ATTEMPTS) throw isBusy ? new StoreBusy(error) : error
    }
  }
}

async function runOnce<T>(
  pool: ConnectionPool,
  work: SessionWork<T>,
  onInterrupted: OnInterruptedCommit<T> | undefined,
): Promise<T> {
  const connection = await pool.acquire()
  try {
    connection.begin()
    const state = new GroupCommitState()
    const value = await work(connection, state).catch((error: unknown) => rollBack(connection, error))
    await state.runDeferredWrites(connection.db).catch((error: unknown) => rollBack(connection, error))
    // A transaction that changed nothing may be repeated, and the server need not flush its commit.
    const mark = onInterrupted && connection.writeCount > 0 ? connection.writeCommitMark() : null
    await connection.commit().catch((error: unknown) => {
      if (error instanceof StoreUnavailable && mark) onInterrupted?.({ mark, value })
      return rollBack(connection, error)
    })
    return value
  } finally {
    connection.release()
  }
}

async function rollBack(connection: PostgresConnection, error: unknown): Promise<never> {
  // On a lost connection the server rolls back by itself.
  await connection.rollBack().catch(() => {})
  throw error
}
