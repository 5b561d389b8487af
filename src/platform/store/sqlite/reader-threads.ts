import { statSync } from 'node:fs'
import type { Driver } from 'kysely'
import { StoreUnavailable } from '../errors.ts'
import { type ReaderFile, ReaderThread } from './reader-connection.ts'

/** So that the reads of others go on during slow reports. */
const MAX_THREADS = 3
/** Short reads share one thread, which takes 8 MB. After this many milliseconds in the queue a read gets another one. */
const MAX_WAIT_MS = 20
const IDLE_MS = 60_000
/** Above this size the write-ahead log is moved into the database before the next read. SQLite itself does so at 4 MB. */
const LARGE_LOG_BYTES = 16 * 1024 * 1024

interface WaitingRead {
  resolve(thread: ReaderThread): void
  reject(error: unknown): void
}

/**
 * Reads in threads, each with a connection of its own, so that the event loop goes on meanwhile. A statement has a
 * thread for itself. The first read starts a thread, which ends when it was idle for a minute.
 */
export class ReaderThreads implements Driver {
  readonly #file: ReaderFile
  readonly #idleMs: number
  readonly #threads = new Set<ReaderThread>()
  readonly #idle: ReaderThread[] = []
  readonly #queue: WaitingRead[] = []
  #isClosed = false

  constructor(file: ReaderFile, idleMs = IDLE_MS) {
    this.#file = file
    this.#idleMs = idleMs
  }

  /** How many threads there are. */
  get size(): number {
    return this.#threads.size
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<ReaderThread> {
    const thread = await this.#takeThread()
    // A failure is that of the read too.
    if (this.#isLogLarge()) await thread.run('pragma wal_checkpoint(passive)').catch(() => {})
    return thread
  }

  async releaseConnection(thread: ReaderThread): Promise<void> {
    if (!this.#threads.has(thread)) return
    this.#idle.push(thread)
    thread.startIdle(this.#idleMs, () => void this.#end(thread))
    this.#serveQueue()
  }

  async beginTransaction(): Promise<void> {
    throw new Error('reads in threads have no transactions')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  /** Lets the statements that have begun end. */
  async destroy(): Promise<void> {
    this.#isClosed = true
    this.#refuseQueue(new Error('the store is closed'))
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)))
  }

  #takeThread(): Promise<ReaderThread> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('the store is closed'))
      const read = { resolve, reject }
      this.#queue.push(read)
      this.#serveQueue()
      if (this.#threads.size === 0) this.#start()
      else if (this.#queue.includes(read)) setTimeout(() => this.#queue.includes(read) && this.#start(), MAX_WAIT_MS)
    })
  }

  /**
   * The write-ahead log starts again only when no read needs it, so under steady reads it would grow without end. Reads
   * therefore wait for each other when it is large.
   */
  #serveQueue(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      if (this.#idle.length < this.#threads.size && this.#isLogLarge()) return
      const thread = this.#idle.pop()
      thread?.endIdle()
      if (thread) this.#queue.shift()?.resolve(thread)
    }
  }

  #refuseQueue(error: unknown): void {
    for (const read of this.#queue.splice(0)) read.reject(error)
  }

  #isLogLarge(): boolean {
    const log = statSync(`${this.#file.path}-wal`, { throwIfNoEntry: false })
    return log !== undefined && log.size > LARGE_LOG_BYTES
  }

  #start(): void {
    if (this.#isClosed || this.#threads.size === MAX_THREADS) return
    const thread = new ReaderThread(this.#file, {
      onStart: () => void this.releaseConnection(thread),
      onEnd: (error) => {
        this.#forget(thread)
        if (this.#threads.size === 0) this.#refuseQueue(new StoreUnavailable(error))
        // The reads may have waited for the end of this thread's read.
        else this.#serveQueue()
      },
    })
    this.#threads.add(thread)
  }

  #end(thread: ReaderThread): Promise<void> {
    this.#forget(thread)
    return thread.end()
  }

  #forget(thread: ReaderThread): void {
    this.#threads.delete(thread)
    const place = this.#idle.indexOf(thread)
    if (place >= 0) this.#idle.splice(place, 1)
  }
}
