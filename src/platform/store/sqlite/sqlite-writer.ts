import { StoreUnavailable } from '../errors.ts'
import type { GroupCommitStore, SessionWork, TransactionSession } from '../group-commit.ts'
import { GroupCommitState } from '../group-commit-state.ts'
import type { Db } from '../store.ts'
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.ts'

/** The one connection that writes. Its transactions must not overlap: the group commit runs one at a time. */
export class SqliteWriter implements GroupCommitStore {
  readonly maxBatch = 64
  /** Whether the connection shows rows that are not committed. */
  isOpen = false
  /** The recent duration of a commit. */
  commitMs = 0
  /** Whether a write has failed since the last successful `ping`. */
  #hasFailed = false
  readonly #connection: SqliteConnection
  readonly #warn: (message: string, error: unknown) => void
  readonly #session: TransactionSession
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement

  constructor(connection: SqliteConnection, db: Db, warn: (message: string, error: unknown) => void) {
    this.#connection = connection
    this.#warn = warn
    this.#session = {
      db,
      get writeCount() {
        return connection.writeCount()
      },
      get hasFailed() {
        return !connection.inTransaction()
      },
    }
    this.#begin = connection.prepare('begin immediate')
    this.#commit = connection.prepare('commit')
  }

  async runTransaction<T>(work: SessionWork<T>): Promise<T> {
    this.isOpen = true
    try {
      this.#begin.execute([])
      const state = new GroupCommitState()
      const value = await work(this.#session, state)
      await state.runDeferredWrites(this.#session.db)
      const start = performance.now()
      this.#commit.execute([])
      this.commitMs += (performance.now() - start - this.commitMs) / 8
      return value
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#reportFailure(error)
      this.#rollBack()
      throw error
    } finally {
      this.isOpen = false
    }
  }

  /** A transaction that fails because the disk is full must not fail the others of its batch. */
  canRetry(): boolean {
    return true
  }

  /** After a failed write, only another write shows that the disk accepts writes again. */
  async ping(transact: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    const mustWrite = this.#hasFailed
    await transact(async () => {
      if (mustWrite) this.#connection.exec('pragma user_version = 0')
    })
    if (mustWrite) this.#hasFailed = false
  }

  /** One warning for each outage, not for each write. */
  #reportFailure(error: StoreUnavailable): void {
    if (!this.#hasFailed) this.#warn('the store cannot be written', error)
    this.#hasFailed = true
  }

  #rollBack(): void {
    try {
      if (this.#connection.inTransaction()) this.#connection.exec('rollback')
    } catch {
      // The next `begin` reports the failure.
    }
  }
}
