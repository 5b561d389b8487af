import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/**
 * What the transactions of one commit share: a row that one of them has locked and read need not be read by the next,
 * and a row that each of them would overwrite is written once, after the last of them.
 */
export class GroupCommitState {
  readonly #deferred = new Map<string, (db: Db) => Promise<unknown>>()
  #isFinished = false
  #deferredCount = 0

  /** Grows with every write that was deferred. */
  get deferredCount(): number {
    return this.#deferredCount
  }

  /** Replaces a write that was deferred under the same name. */
  writeAtEnd(name: string, write: (db: Db) => Promise<unknown>): void {
    if (this.#isFinished) throw new Error('the transaction has already ended')
    this.#deferred.set(name, write)
    this.#deferredCount++
  }

  async runDeferredWrites(db: Db): Promise<void> {
    this.#isFinished = true
    for (const write of this.#deferred.values()) await write(db)
  }
}

/** Values that the transactions of one commit pass on, such as a row that one of them has locked and changed. */
export class GroupCommitCache<T> {
  readonly #values = new WeakMap<GroupCommitState, Map<string, T>>()

  get(state: GroupCommitState, name: string): T | undefined {
    return this.#values.get(state)?.get(name)
  }

  set(state: GroupCommitState, name: string, value: T): void {
    const values = this.#values.get(state) ?? new Map<string, T>()
    this.#values.set(state, values.set(name, value))
  }
}
