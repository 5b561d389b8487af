import type { Db } from '../store.ts'
import { createSqliteKysely, openSqliteConnection, type SqliteConnection } from './sqlite-connection.ts'

/**
 * A connection for reads that take many statements and must see one moment. It is opened by the first of them. They run
 * one after another, so that an old snapshot does not keep the write-ahead log from starting again for long.
 */
export class SnapshotReader {
  readonly #open: () => SqliteConnection
  #connection: { handle: SqliteConnection; db: Db } | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string, sync: 'full' | 'normal') {
    this.#open = () => openSqliteConnection(path, sync)
  }

  read<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#readInTransaction(work))
    this.#last = result.catch(() => {})
    return result
  }

  async #readInTransaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { handle, db } = (this.#connection ??= this.#connect())
    handle.exec('begin')
    try {
      return await work(db)
    } finally {
      handle.exec('commit')
    }
  }

  #connect() {
    const handle = this.#open()
    // A snapshot reads most pages once, so a large cache would only take memory.
    handle.exec('pragma cache_size = -4096; pragma query_only = on')
    return { handle, db: createSqliteKysely(handle, null) }
  }

  async close(): Promise<void> {
    await this.#last
    await this.#connection?.db.destroy()
  }
}
