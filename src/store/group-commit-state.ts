import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/**
 * One commit, as its works see it: what one of them has read under a lock, the next need not read again, and what each
 * would write over is written once, after the last of them.
 */
export class GroupCommitState {
  readonly #last = new Map<string, (db: Db) => Promise<unknown>>()

  #finished = false

  /** Instead of what was to be written last under that name before. */
  writeAtEnd(name: string, write: (db: Db) => Promise<unknown>): void {
    if (this.#finished) throw new Error('a work has outlived its transaction')
    this.#last.set(name, write)
  }

  async runDeferredWrites(db: Db): Promise<void> {
    this.#finished = true
    for (const write of this.#last.values()) await write(db)
  }
}

/** What the works of one commit tell each other, such as a row that one of them has locked and changed. */
export class GroupCommitCache<T> {
  readonly #told = new WeakMap<GroupCommitState, Map<string, T>>()

  get(shared: GroupCommitState, name: string): T | undefined {
    return this.#told.get(shared)?.get(name)
  }

  set(shared: GroupCommitState, name: string, value: T): void {
    const told = this.#told.get(shared) ?? new Map<string, T>()
    this.#told.set(shared, told.set(name, value))
  }
}
