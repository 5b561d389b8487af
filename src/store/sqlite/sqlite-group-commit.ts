import { StoreUnavailable } from '../errors.ts'
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.ts'
import { GroupCommitState } from '../group-commit-state.ts'
import type { Db, TransactionWork } from '../store.ts'

/**
 * Transactions run one after another inside one commit, and nobody hears of success before that is on disk. When one
 * fails that had written something, the commit is undone and each is run again alone: a savepoint for every one of them
 * would cost all of them what few need.
 */
export class SqliteGroupCommit {
  #waiting: WaitingTransaction[] = []
  #draining: Promise<void> | null = null
  #closed = false
  commitMs = 0
  /** A write has failed since the last one that was tried for its own sake. */
  #refused = false
  /** Whether rows can be seen on this connection that are not committed. */
  isOpen = false
  readonly #handle: SqliteConnection
  readonly #db: Db
  readonly #begin: SqliteStatement
  readonly #end: SqliteStatement

  constructor(handle: SqliteConnection, db: Db) {
    this.#handle = handle
    this.#db = db
    this.#begin = handle.prepare('begin immediate')
    this.#end = handle.prepare('commit')
  }

  transact<T>(work: TransactionWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(new Error('the store is closed'))
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Where a write failed, only a write shows that the disk takes them again. */
  async ping(): Promise<void> {
    const refused = this.#refused
    await this.transact(async () => refused && this.#handle.exec('pragma user_version = 0'))
    if (refused) this.#refused = false
  }

  /** Takes no more, and resolves when what was taken is done. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#draining) await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop gathers what arrives together.
      await new Promise(setImmediate)
      await this.#commit(this.#waiting.splice(0, MAX_BATCH))
    }
    this.#draining = null
  }

  async #commit(members: WaitingTransaction[]): Promise<void> {
    const done: (() => void)[] = []
    let begun = false
    try {
      this.isOpen = true
      this.#begin.execute([])
      begun = true
      const shared = new GroupCommitState()
      for (const member of members) done.push(await this.#attempt(member, shared))
      await shared.runDeferredWrites(this.#db)
      const began = performance.now()
      this.#end.execute([])
      this.commitMs += (performance.now() - began - this.commitMs) / 8
    } catch (error) {
      this.#refused ||= error instanceof StoreUnavailable
      this.#rollBack()
      // One that the disk had no room for, or that failed half-way, must not take the others with it.
      if (begun && members.length > 1) for (const member of members) await this.#commit([member])
      else for (const member of members) member.reject(error)
      return
    } finally {
      this.isOpen = false
    }
    for (const settle of done) settle()
  }

  #rollBack(): void {
    try {
      if (this.#handle.inTransaction()) this.#handle.exec('rollback')
    } catch {
      // The next begin tells.
    }
  }

  /** Runs one transaction and returns what to say once the commit is through. */
  async #attempt({ work, resolve, reject }: WaitingTransaction, shared: GroupCommitState): Promise<() => void> {
    const written = this.#handle.writeCount()
    try {
      const value = await work(this.#db, shared)
      return () => resolve(value)
    } catch (error) {
      this.#refused ||= error instanceof StoreUnavailable
      if (this.#handle.writeCount() > written || !this.#handle.inTransaction()) throw error
      return () => reject(error)
    }
  }
}

const MAX_BATCH = 64

interface WaitingTransaction {
  work: TransactionWork<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}
