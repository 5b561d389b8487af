import { statSync } from 'node:fs'
import type { Db } from '../store.ts'
import { createSqliteKysely, openSqliteConnection, type SqliteConnection } from './sqlite-connection.ts'
import { yieldBetweenReads } from './yielding-driver.ts'

/** Above this size a snapshot first moves the write-ahead log into the database. SQLite itself does so at 4 MB. */
const LARGE_LOG_BYTES = 16 * 1024 * 1024

/**
 * A connection for reads that take many statements and must see one moment. It is opened by the first of them. They run
 * one after another. If each began before the last one had left the write-ahead log, that log would never start again
 * and would grow without end, so the log is emptied between two of them.
 */
export class SnapshotReader {
  readonly #logPath: string
  readonly #open: () => SqliteConnection
  #connection: { handle: SqliteConnection; db: Db } | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string, sync: 'full' | 'normal') {
    this.#logPath = `${path}-wal`
    this.#open = () => openSqliteConnection(path, sync)
  }

  read<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#readInTransaction(work))
    this.#last = result.catch(() => {})
    return result
  }

  async #readInTransaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { handle, db } = (this.#connection ??= this.#connect())
    if (this.#logBytes() > LARGE_LOG_BYTES) handle.exec('pragma wal_checkpoint(passive)')
    handle.exec('begin')
    try {
      return await work(db)
    } finally {
      handle.exec('commit')
    }
  }

  #logBytes(): number {
    return statSync(this.#logPath, { throwIfNoEntry: false })?.size ?? 0
  }

  #connect() {
    const handle = this.#open()
    // A snapshot reads most pages once, so a large cache would only take memory.
    handle.exec('pragma cache_size = -4096; pragma query_only = on')
    return { handle, db: createSqliteKysely(handle, yieldBetweenReads) }
  }

  async close(): Promise<void> {
    await this.#last
    await this.#connection?.db.destroy()
  }
}
