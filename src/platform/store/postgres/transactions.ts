import { classifyStoreError, isOutage, isPoolTimeout, isUnreachable, retryWhile } from '../errors.ts'
import { type CommitMark, GroupCommit, type InterruptedCommit, type OnInterruptedCommit } from '../group-commit.ts'
import type { TransactionWork } from '../store.ts'
import { LOOK_UP_COMMIT_MARK } from './commit-mark.ts'
import type { ConnectionPool, Retry } from './connection-pool.ts'
import { runTransaction } from './transaction.ts'

/** The first transaction of a batch waits for the last. */
const MAX_BATCH = 32

/** The transactions of a replica: those of one group share commits. */
export class Transactions {
  readonly #connections: ConnectionPool
  readonly #commits: GroupCommit

  constructor(connections: ConnectionPool) {
    this.#connections = connections
    this.#commits = new GroupCommit({
      maxBatch: MAX_BATCH,
      runTransaction: (work, onInterrupted) => runTransaction(connections, work, onInterrupted),
      canRetry: (error) => !isUnreachable(error),
    })
  }

  run<T>(work: TransactionWork<T>, group?: string, onInterrupted?: OnInterruptedCommit<T>): Promise<T> {
    if (group !== undefined) return this.#commits.transact(group, work, onInterrupted)
    return runTransaction(this.#connections, ({ db }, state) => work(db, state), onInterrupted)
  }

  /**
   * Retries the transaction, but commits it once: after a connection broke during the commit, it looks up the mark that
   * the transaction wrote, and repeats only a transaction that was not committed.
   */
  runDurably<T>(retry: Retry, work: TransactionWork<T>, group?: string): Promise<T> {
    let interrupted: InterruptedCommit<T> | null = null
    return retry(async () => {
      if (interrupted && (await this.#isCommitted(interrupted.mark))) return interrupted.value
      interrupted = null
      return this.run(work, group, (commit) => {
        interrupted = commit
      })
    })
  }

  async #isCommitted({ connection, number }: CommitMark): Promise<boolean> {
    const values = [connection, number + 1, new Date().toISOString()]
    const query = this.#connections.pool.query<{ number: number }>(LOOK_UP_COMMIT_MARK, values)
    const { rows } = await query.catch((error) => {
      throw classifyStoreError(error)
    })
    return rows[0]?.number === number
  }
}

/**
 * Lets a request wait for a database that is restarted or replaced, until the request or the outage is `waitMs` old: later
 * in a long outage, requests fail at once instead of filling the memory. A request that gets no connection although the
 * database responds fails at once too, because then the replica has too much to do.
 */
export function createRequestRetry(connections: ConnectionPool, waitMs: number, signal?: AbortSignal): Retry {
  return (attempt) => {
    const startedAt = performance.now()
    let attemptedAt = startedAt
    const isAway = (error: unknown) =>
      isOutage(error) && !(isPoolTimeout(error) && connections.respondedAt > attemptedAt)
    return retryWhile(
      () => {
        attemptedAt = performance.now()
        return attempt()
      },
      (error) =>
        isAway(error) && !signal?.aborted && performance.now() - Math.min(startedAt, connections.respondedAt) < waitMs,
    )
  }
}
