import { StoreAway } from './away.ts'
import type { Handle, Statement } from './sqlite-handle.ts'
import { Shared } from './shared.ts'
import type { Db, Work } from './store.ts'

/**
 * Transactions run one after another inside one commit, and nobody hears of success before that is on disk. When one
 * fails that had written something, the commit is undone and each is run again alone: a savepoint for every one of them
 * would cost all of them what few need.
 */
export class CommitLane {
  #waiting: Member[] = []
  #draining: Promise<void> | null = null
  #closed = false
  commitMs = 0
  /** A write has failed since the last one that was tried for its own sake. */
  #refused = false
  /** Whether rows can be seen on this connection that are not committed. */
  open = false
  readonly #handle: Handle
  readonly #db: Db
  readonly #begin: Statement
  readonly #end: Statement

  constructor(handle: Handle, db: Db) {
    this.#handle = handle
    this.#db = db
    this.#begin = handle.prepare('begin immediate')
    this.#end = handle.prepare('commit')
  }

  transact<T>(work: Work<T>): Promise<T> {
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
      await this.#commit(this.#waiting.splice(0, MOST_TOGETHER))
    }
    this.#draining = null
  }

  async #commit(members: Member[]): Promise<void> {
    const done: (() => void)[] = []
    let begun = false
    try {
      this.open = true
      this.#begin.perform([])
      begun = true
      const shared = new Shared()
      for (const member of members) done.push(await this.#attempt(member, shared))
      await shared.finish(this.#db)
      const began = performance.now()
      this.#end.perform([])
      this.commitMs += (performance.now() - began - this.commitMs) / 8
    } catch (error) {
      this.#refused ||= error instanceof StoreAway
      this.#rollBack()
      // One that the disk had no room for, or that failed half-way, must not take the others with it.
      if (begun && members.length > 1) for (const member of members) await this.#commit([member])
      else for (const member of members) member.reject(error)
      return
    } finally {
      this.open = false
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
  async #attempt({ work, resolve, reject }: Member, shared: Shared): Promise<() => void> {
    const written = this.#handle.written()
    try {
      const value = await work(this.#db, shared)
      return () => resolve(value)
    } catch (error) {
      this.#refused ||= error instanceof StoreAway
      if (this.#handle.written() > written || !this.#handle.inTransaction()) throw error
      return () => reject(error)
    }
  }
}

const MOST_TOGETHER = 64

interface Member {
  work: Work<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}
