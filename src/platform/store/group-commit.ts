import { StoreUnavailable } from './errors.ts'
import type { GroupCommitState } from './group-commit-state.ts'
import type { Db, TransactionWork } from './store.ts'

/** A transaction that is open on one connection. */
export interface TransactionSession {
  readonly db: Db
  /** Grows with every statement that changed a row or may have. */
  readonly writeCount: number
  /** Whether a statement failed in a way that undoes the whole transaction. */
  readonly hasFailed: boolean
}

export type SessionWork<T> = (session: TransactionSession, state: GroupCommitState) => Promise<T>

/** A row that a transaction writes so that its outcome can be looked up: each connection has one row with a number. */
export interface CommitMark {
  connection: string
  number: number
}

/** A transaction whose connection broke during the commit, so that only the database knows whether it was committed. */
export interface InterruptedCommit<T> {
  mark: CommitMark
  value: T
}

export type OnInterruptedCommit<T> = (interrupted: InterruptedCommit<T>) => void

/** What a store does for its group commits. */
export interface GroupCommitStore {
  /** How many transactions may share a commit: the first of them waits for the last. */
  maxBatch: number
  runTransaction<T>(work: SessionWork<T>, onInterrupted?: OnInterruptedCommit<T>): Promise<T>
  /** Whether the transactions of a batch that failed with this error may run again, each on its own. */
  canRetry(error: unknown): boolean
}

/**
 * Runs the transactions of a group one after another and commits together those that arrived together. A commit waits
 * for the disk, which takes longer than all their statements, and transactions of one group would wait for each other's
 * locks anyway. A transaction that fails after it has written rolls the batch back; then each of them runs on its own. A
 * savepoint for each would avoid that, but every transaction would pay for what few need.
 */
export class GroupCommit {
  readonly #store: GroupCommitStore
  /** The waiting transactions of each group that is at work. */
  readonly #queues = new Map<string, WaitingTransaction[]>()
  #isClosed = false
  #idle: () => void = () => {}

  constructor(store: GroupCommitStore) {
    this.#store = store
  }

  transact<T>(group: string, work: TransactionWork<T>, onInterrupted?: OnInterruptedCommit<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('the store is closed'))
      const transaction = { work, onInterrupted, resolve, reject } as WaitingTransaction
      const queue = this.#queues.get(group)
      if (queue) queue.push(transaction)
      else void this.#drain(group, [transaction])
    })
  }

  /** Accepts no more transactions, and resolves when the accepted ones have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#queues.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
  }

  async #drain(group: string, queue: WaitingTransaction[]): Promise<void> {
    this.#queues.set(group, queue)
    while (queue.length > 0) {
      // One turn of the event loop collects the transactions that arrive together.
      await new Promise(setImmediate)
      await this.#commit(queue.splice(0, this.#store.maxBatch))
    }
    this.#queues.delete(group)
    this.#idle()
  }

  async #commit(batch: WaitingTransaction[]): Promise<void> {
    let isBegun = false
    const work: SessionWork<TransactionResult[]> = (session, state) => {
      isBegun = true
      return runInTurn(session, state, batch)
    }
    const isWatched = batch.some(({ onInterrupted }) => onInterrupted)
    try {
      const results = await this.#store.runTransaction(work, isWatched ? reportInterruption : undefined)
      for (const { transaction, value, failed } of results) (failed ? transaction.reject : transaction.resolve)(value)
    } catch (error) {
      if (isBegun && batch.length > 1 && this.#store.canRetry(error)) {
        for (const transaction of batch) await this.#commit([transaction])
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }
}

interface WaitingTransaction {
  work: TransactionWork<unknown>
  onInterrupted?: OnInterruptedCommit<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** How one transaction of a batch ended; the value of one that failed is its error. */
interface TransactionResult {
  transaction: WaitingTransaction
  value: unknown
  failed: boolean
}

async function runInTurn(
  session: TransactionSession,
  state: GroupCommitState,
  batch: WaitingTransaction[],
): Promise<TransactionResult[]> {
  const results: TransactionResult[] = []
  for (const transaction of batch) {
    const countWrites = () => session.writeCount + state.deferredCount
    const writesBefore = countWrites()
    try {
      results.push({ transaction, value: await transaction.work(session.db, state), failed: false })
    } catch (error) {
      const leavesNothing = !session.hasFailed && countWrites() === writesBefore
      if (!leavesNothing || error instanceof StoreUnavailable) throw error
      results.push({ transaction, value: error, failed: true })
    }
  }
  return results
}

/** A transaction that failed wrote nothing, so only the others may have been committed. */
const reportInterruption: OnInterruptedCommit<TransactionResult[]> = ({ mark, value: results }) => {
  for (const { transaction, value, failed } of results) if (!failed) transaction.onInterrupted?.({ mark, value })
}
