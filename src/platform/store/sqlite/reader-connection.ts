import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { classifyStoreError, StoreUnavailable } from '../errors.ts'

/** What a reader thread runs and opens. */
export interface ReaderFile {
  program: string
  path: string
  sync: 'full' | 'normal'
}

export type ReaderRequest = Pick<CompiledQuery, 'sql' | 'parameters'>

export type ReaderAnswer = { rows: unknown[] } | { error: { message: string } & Record<string, unknown> }

interface PendingStatement {
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

/** A thread with a connection, which runs its statements in their order. */
export class ReaderThread implements DatabaseConnection {
  readonly #worker: Worker
  readonly #pending: PendingStatement[] = []
  readonly #ended: Promise<void>
  #failure: StoreUnavailable | null = null
  #idleTimer: NodeJS.Timeout | undefined

  /** `onEnd` gets the reason why the thread ended by itself. */
  constructor(file: ReaderFile, { onStart, onEnd }: { onStart: () => void; onEnd: (error: unknown) => void }) {
    this.#worker = new Worker(file.program, { workerData: file, env: {}, execArgv: [], argv: [] })
    let reason: unknown = new Error('the thread has ended')
    this.#worker.on('error', (error) => (reason = error)).on('message', (answer) => this.#settle(answer))
    this.#worker.once('online', onStart)
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve)).then(() => {
      this.#failure = new StoreUnavailable(reason)
      for (const statement of this.#pending.splice(0)) statement.reject(this.#failure)
      onEnd(reason)
    })
  }

  /** The process need not wait for an idle thread. */
  startIdle(ms: number, onTimeout: () => void): void {
    this.#worker.unref()
    this.#idleTimer = setTimeout(onTimeout, ms).unref()
  }

  endIdle(): void {
    clearTimeout(this.#idleTimer)
    this.#worker.ref()
  }

  run(sql: string, parameters: readonly unknown[] = []): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#worker.postMessage({ sql, parameters } satisfies ReaderRequest, [])
      this.#pending.push({ resolve, reject })
    })
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return { rows: (await this.run(sql, parameters)) as Row[] }
  }

  streamQuery(): never {
    throw new Error('a reader thread does not stream')
  }

  /** After the statements that have begun. */
  end(): Promise<void> {
    clearTimeout(this.#idleTimer)
    this.#worker.postMessage(null, [])
    return this.#ended
  }

  #settle(answer: ReaderAnswer): void {
    const statement = this.#pending.shift()
    if ('rows' in answer) return statement?.resolve(answer.rows)
    const { message, ...fields } = answer.error
    statement?.reject(classifyStoreError(Object.assign(new Error(message), fields)))
  }
}
