import { randomUUID } from 'node:crypto'
import { PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import { createKysely, DirectPostgresAdapter } from '../dialect.ts'
import { classifyStoreError, isUnreachable, StoreBusy } from '../errors.ts'
import type { CommitMark, TransactionSession } from '../group-commit.ts'
import type { Db } from '../store.ts'
import { WRITE_COMMIT_MARK } from './commit-mark.ts'
import {
  type PipelineResult,
  type PipelineStatement,
  type PreparedStatements,
  sendPipeline,
} from './driver/pipeline-query.ts'

/** PostgreSQL refuses a prepared statement whose result columns have changed since it was prepared. */
export const STALE_PLAN_CODE = '0A000'

/** What a connection needs from its pool. */
export interface ConnectionOwner {
  /** The name under which the server keeps a statement prepared. */
  statementName(text: string): string
  /** When the database last responded to a statement. */
  respondedAt: number
  /** Called when a prepared statement no longer fits the tables. */
  onStalePlan(): void
  warn(message: string, error: unknown): void
}

/**
 * One connection, used by one caller at a time. A round trip costs more than most statements, so statements without a
 * result wait for the next statement with one and are sent in the same message. Their errors are reported by that
 * statement, at the latest by the commit.
 */
export class PostgresConnection implements TransactionSession {
  readonly db: Db
  readonly #client: pg.PoolClient
  readonly #owner: ConnectionOwner
  readonly #prepared: PreparedStatements = new Map()
  #deferred: PipelineStatement[] = []
  #isInTransaction = false
  readonly #id = randomUUID()
  #markCount = 0
  /** Why the connection must not be used again. */
  #closeReason: Error | undefined
  writeCount = 0
  hasFailed = false

  constructor(client: pg.PoolClient, owner: ConnectionOwner) {
    this.#client = client
    this.#owner = owner
    this.db = createPostgresKysely(
      (text, values, mode) => (mode === 'deferred' ? this.#defer(text, values) : this.queryPrepared(text, values)),
      async () => ({ query: (text, values) => this.query({ text, values }), release: () => {} }),
    )
  }

  begin(): void {
    this.writeCount = 0
    this.hasFailed = false
    this.#deferred = [{ text: 'begin', values: [] }]
  }

  /** Lets the outcome of the transaction be looked up. */
  writeCommitMark(): CommitMark {
    this.#markCount += 2
    const mark = { connection: this.#id, number: this.#markCount }
    const values = [mark.connection, mark.number, new Date().toISOString()]
    this.#deferred.push({ name: this.#owner.statementName(WRITE_COMMIT_MARK), text: WRITE_COMMIT_MARK, values })
    return mark
  }

  async commit(): Promise<void> {
    const { command } = await this.query({ text: 'commit', values: [] })
    this.#isInTransaction = false
    if (command !== 'COMMIT') throw new Error(`the server answered COMMIT with ${command}`)
  }

  async rollBack(): Promise<void> {
    this.#deferred = []
    if (!this.#isInTransaction) return
    await this.query({ text: 'rollback', values: [] })
    this.#isInTransaction = false
  }

  async queryPrepared(text: string, values: readonly unknown[]): Promise<unknown[]> {
    return (await this.query({ name: this.#owner.statementName(text), text, values })).rows
  }

  /** Sends the statement together with the deferred ones. */
  async query(statement: PipelineStatement): Promise<PipelineResult> {
    const statements = [...this.#deferred, statement]
    this.#deferred = []
    this.#isInTransaction ||= statements.length > 1
    const preparedBefore = this.#prepared.size
    try {
      const result = await sendPipeline(this.#client, statements, this.#prepared)
      this.#owner.respondedAt = performance.now()
      if (!result) throw new Error(`no result of ${statement.text}`)
      if (result.command !== 'SELECT' && result.rowCount) this.writeCount++
      return result
    } catch (error) {
      throw this.#classify(error, this.#prepared.size > preparedBefore)
    }
  }

  release(): void {
    this.#client.release(this.#closeReason)
  }

  async #defer(text: string, values: readonly unknown[]): Promise<never[]> {
    this.writeCount++
    this.#deferred.push({ name: this.#owner.statementName(text), text, values })
    return []
  }

  #classify(error: unknown, hasPrepared: boolean): unknown {
    this.hasFailed = true
    const classified = classifyStoreError(error)
    if (isUnreachable(classified)) this.#closeReason = classified
    // The error does not say which of the new statements the server has prepared.
    else if (hasPrepared)
      this.#closeReason ??= new Error('the connection cannot know which statements the server has prepared')
    if (error instanceof pg.DatabaseError && error.code === STALE_PLAN_CODE) this.#owner.onStalePlan()
    // Replaces the stack of the socket by the stack of the caller.
    if (error instanceof Error) Error.captureStackTrace(error)
    // Logged here, because the caller may retry without logging.
    if (classified instanceof StoreBusy) this.#owner.warn('the database cancelled a statement', error)
    return classified
  }
}

/** What Kysely needs from a client. */
interface KyselyClient {
  query(text: string, values: readonly unknown[]): Promise<PipelineResult>
  release(): void
}

export function createPostgresKysely(run: DirectPostgresAdapter['run'], connect: () => Promise<KyselyClient>): Db {
  // Kysely must not end the pool: the store does.
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as unknown as PostgresPool })
  return createKysely(dialect, new DirectPostgresAdapter(run))
}
