import type { Kysely } from 'kysely'
import type { GroupCommitState } from './group-commit-state.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>

/** What a transaction does; `state` belongs to the commit that it may share with others. */
export type TransactionWork<T> = (db: Db, state: GroupCommitState) => Promise<T>

/** The connections of one replica to the database. */
export interface PoolUse {
  busy: number
  idle: number
  max: number
  /** Transactions and statements that wait for a connection. */
  waiting: number
}

/** What SQLite and PostgreSQL both provide. Code outside this folder is the same for both. */
export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** Reads committed rows only, and so few that it takes a millisecond at most; writes go through `transact`. */
  readonly db: Db
  /**
   * For reads that may take long: lists, filters, search, reports, exports, verification. SQLite reads them in threads,
   * because its reads block their thread.
   */
  readonly lists: Db
  /**
   * Commits everything or nothing. The work may await only the database. The store may run it again, so it must change
   * nothing but rows.
   *
   * Transactions of one group may share a commit and still behave as if each were alone. To be in one group, they must
   * take the same locks in the same order: otherwise two replicas could deadlock.
   */
  transact<T>(work: TransactionWork<T>, group?: string): Promise<T>
  /**
   * Like `transact`, but retries while the store is unavailable, and never repeats a transaction that was committed when
   * the connection broke. The signal ends the retries, not a running transaction.
   */
  transactDurably<T>(work: TransactionWork<T>, signal?: AbortSignal, group?: string): Promise<T>
  /**
   * The same store for requests. Their reads and transactions wait while the database cannot be reached, until it has not
   * responded for `waitMs` or the signal is aborted, and never repeat a transaction that was committed when the connection
   * broke.
   */
  forRequests(waitMs: number, signal?: AbortSignal): Store
  /** The clock of the database, which all replicas share; null on SQLite, which has one replica. */
  readonly now: (() => number) | null
  /** The recent duration of a commit in milliseconds: waiting that long for other transactions pays off. */
  readonly commitMs: () => number
  /** How the pool of connections is used now; null on SQLite, which has none. */
  readonly poolUse: () => PoolUse | null
  /**
   * Gives some of the freed space back to the disk, in one short step, and returns whether more is free. Null where the
   * database does this by itself or cannot do it.
   */
  readonly releaseSpace: (() => Promise<boolean>) | null
  /** Rejects while the store cannot be reached or written. */
  ping(): Promise<void>
  /** Sends topics to the other replicas. A lost one costs them one poll interval. */
  publish(topics: string[]): void
  /** Receives the topics that other replicas sent. */
  subscribe(listener: (topic: string) => void): void
  close(): Promise<void>
}
