import { PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import { isUnreachable, StoreBusy, classifyStoreError } from '../errors.ts'
import { DirectPostgresAdapter, createKysely } from '../dialect.ts'
import type { PreparedNames } from './prepared-names.ts'
import { sendPipeline, type ParsedStatements, type PipelineStatement, toWireValue } from './pipeline.ts'
import type { Db } from '../store.ts'

/** What PostgreSQL says when a kept statement would answer with other columns than it was planned for. */
export const STALE_PLAN_CODE = '0A000'

/** A read that stands alone. */
export interface ReadRequest {
  text: string
  values: readonly unknown[]
}

/**
 * One connection. A way to the database and back costs more than most statements, so nobody waits for what answers
 * nothing: it goes with the next statement that does, and what fails of it is told then, at the latest by the commit.
 */
export class PostgresConnection {
  /** Whoever uses it has the line alone. */
  readonly db: Db
  readonly #client: pg.PoolClient
  readonly #kept: PreparedNames
  readonly #warn: (message: string, error: unknown) => void
  readonly #parsed: ParsedStatements = { columns: new Map(), doubtful: new Set() }
  /** What waits for the next statement that answers. */
  #held: PipelineStatement[] = []
  #lost: Error | undefined
  /** Whether the server has heard of a transaction that is not over. */
  #inside = false
  /** How many statements of this transaction have changed something, or may have. */
  writeCount = 0
  /** Whether a statement of this transaction has failed: then all of it has. */
  hasFailed = false

  constructor(client: pg.PoolClient, kept: PreparedNames, warn: (message: string, error: unknown) => void) {
    this.#client = client
    this.#kept = kept
    this.#warn = warn
    this.db = createPostgresKysely(
      (text, values, how) => (how === 'quiet' ? this.#hold(text, values) : this.queryRows(text, values)),
      async () => ({ query: (text, values) => this.query(text, values), release: () => {} }),
    )
  }

  /** Begins a transaction, on the way to its first statement. */
  begin(): void {
    this.writeCount = 0
    this.hasFailed = false
    this.#held = [this.#statement('begin', [])]
  }

  /** Begins one and asks for its number, which is heard before anything of it that answers. */
  async beginWithId(): Promise<string> {
    this.begin()
    const [known] = await this.queryRows<{ xid: string }>('select pg_current_xact_id()::text as xid')
    return known?.xid ?? ''
  }

  async commit(): Promise<void> {
    const { command } = await this.query('commit')
    this.#inside = false
    if (command !== 'COMMIT') throw new Error(`a commit was answered with ${command}`)
  }

  async rollBack(): Promise<void> {
    this.#held = []
    if (!this.#inside) return
    await this.query('rollback')
    this.#inside = false
  }

  async queryRows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.query(text, values)).rows as Row[]
  }

  /** Sends a statement with all that was held back, and waits for its answer. */
  async query(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const statements = [...this.#held, this.#statement(text, values)]
    this.#held = []
    this.#inside ||= statements.length > 1
    try {
      const answers = await sendPipeline(this.#client, statements, statements.length - 1, this.#parsed)
      const answer = answers.at(-1)
      if (!answer) throw new Error(`no answer to ${text}`)
      if (answer.command !== 'SELECT' && answer.rowCount) this.writeCount++
      return answer
    } catch (error) {
      return this.#failed(error, text, values)
    }
  }

  /** The rows of several questions at once, of which none is answered if one fails. */
  async queryBatch(questions: readonly ReadRequest[]): Promise<unknown[][]> {
    const statements = questions.map(({ text, values }) => this.#statement(text, values))
    try {
      return (await sendPipeline(this.#client, statements, 0, this.#parsed)).map(({ rows }) => rows)
    } catch (error) {
      throw this.#fault(error)
    }
  }

  /** Gives a line that works back to the pool. */
  release(): void {
    this.#client.release(this.#lost)
  }

  async #hold(text: string, values: readonly unknown[]): Promise<never[]> {
    this.writeCount++
    this.#held.push(this.#statement(text, values))
    return []
  }

  #statement(text: string, values: readonly unknown[]): PipelineStatement {
    // Without values it is a word like `commit`, or was put together for one call.
    const name = values.length > 0 ? this.#kept.nameOf(text) : undefined
    return { text, values: values.map(toWireValue), name: name ?? '' }
  }

  async #failed(error: unknown, text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    this.hasFailed = true
    const told = this.#fault(error)
    // Inside a transaction it is too late: the whole of it is tried again.
    if (isStalePlan(error) && !this.#inside) return this.query(text, values)
    throw told
  }

  /** What the error means for the line, and what is to be thrown. */
  #fault(error: unknown): unknown {
    if (isStalePlan(error)) this.#kept.clear()
    const told = classifyStoreError(error)
    if (isUnreachable(told)) this.#lost = told
    // Where it was asked says more than where the answer was read.
    if (error instanceof Error) Error.captureStackTrace(error)
    // Whoever asked may wait and say nothing.
    if (told instanceof StoreBusy) this.#warn('the database gave up on a statement', error)
    return told
  }
}

const isStalePlan = (error: unknown) => error instanceof pg.DatabaseError && error.code === STALE_PLAN_CODE

/** What Kysely asks of a client. */
interface KyselyClient {
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>
  release(): void
}

export function createPostgresKysely(run: DirectPostgresAdapter['run'], connect: () => Promise<KyselyClient>): Db {
  // Kysely ends only what it has used: whoever opened the pool closes it.
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as unknown as PostgresPool })
  return createKysely(dialect, new DirectPostgresAdapter(run))
}
