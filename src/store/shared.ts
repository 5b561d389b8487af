import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/**
 * One commit, as its works see it: what one of them has read under a lock, the next need not read again, and what each
 * would write over is written once, after the last of them.
 */
export class Shared {
  readonly #last = new Map<string, (db: Db) => Promise<unknown>>()

  #finished = false

  /** Instead of what was to be written last under that name before. */
  writeLast(name: string, write: (db: Db) => Promise<unknown>): void {
    if (this.#finished) throw new Error('a work has outlived its transaction')
    this.#last.set(name, write)
  }

  async finish(db: Db): Promise<void> {
    this.#finished = true
    for (const write of this.#last.values()) await write(db)
  }
}
