import { sql } from 'kysely'
import { retryWhile } from '../errors.ts'
import type { Db } from '../store.ts'

const LOCK_TIMEOUT_MS = 50
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Inside a transaction of PostgreSQL: other replicas wait behind a statement that waits for a lock, so these statements wait
 * briefly and fail. Afterwards the timeout that the operator has set is valid again.
 */
export async function runWithShortLocks(db: Db, statements: readonly string[]): Promise<void> {
  const { rows } = await sql<{ timeout: string }>`select current_setting('lock_timeout') as timeout`.execute(db)
  await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(db)
  for (const statement of statements) await sql.raw(statement).execute(db)
  await sql`select set_config('lock_timeout', ${rows[0]?.timeout ?? '0'}, true)`.execute(db)
}

/** Repeats what waits briefly for locks, until for example a dump has ended. `onRetry` is called each time. */
export const retryWhileLocked = <T>(attempt: () => Promise<T>, onRetry: (error: unknown) => void): Promise<T> =>
  retryWhile(attempt, (error) => {
    const isLocked = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
    if (isLocked) onRetry(error)
    return isLocked
  })
