import type { Kysely } from 'kysely'
import type { GroupCommitState } from './group-commit-state.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>

/** What a transaction does; `shared` is that of its commit. */
export type TransactionWork<T> = (db: Db, shared: GroupCommitState) => Promise<T>

/** What both stores promise. Everything above this folder is one code path. */
export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** Reads committed rows only; writes go through `transact`. */
  readonly db: Db
  /**
   * All or nothing. The work may await only the database, and may be run again when the store asks for it, so it must
   * change nothing but rows.
   *
   * Those that name the same lane may share a commit, each still as if it were alone. Whoever names one vouches that
   * all of them together wait for no lock that one of them does not take, and take theirs in the same order: else two
   * replicas could wait for each other.
   */
  transact<T>(work: TransactionWork<T>, lane?: string): Promise<T>
  /**
   * Like `transact`, but while the store is away it waits for it, and what was committed when the connection broke is
   * not done again. The signal ends the waiting, not the work.
   */
  transactDurably<T>(work: TransactionWork<T>, signal?: AbortSignal, lane?: string): Promise<T>
  /** The time that all replicas share; null where there is but one. */
  readonly now: (() => number) | null
  /** What a commit costs of late, in milliseconds: as long as it pays to wait for company. */
  readonly commitMs: () => number
  /** Rejects while the store cannot be reached or written. */
  ping(): Promise<void>
  /** Tells the other replicas; a hint only, lost ones cost a poll. */
  notify(topics: string[]): void
  /** Hears what other replicas told. */
  subscribe(listener: (topic: string) => void): void
  close(): Promise<void>
}
