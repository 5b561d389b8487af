import { PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import { isGone, StoreBusy, toldApart } from './away.ts'
import { DirectPostgres, kyselyWith } from './dialect.ts'
import type { KeptStatements } from './kept-statements.ts'
import { exchange, type Parsed, type Statement, wireValue } from './postgres-exchange.ts'
import type { Db } from './store.ts'

/** What PostgreSQL says when a kept statement would answer with other columns than it was planned for. */
export const PLAN_IS_OLD = '0A000'

/** A read that stands alone. */
export interface Question {
  text: string
  values: readonly unknown[]
}

/**
 * One connection. A way to the database and back costs more than most statements, so nobody waits for what answers
 * nothing: it goes with the next statement that does, and what fails of it is told then, at the latest by the commit.
 */
export class Line {
  /** Whoever uses it has the line alone. */
  readonly db: Db
  readonly #client: pg.PoolClient
  readonly #kept: KeptStatements
  readonly #warn: (message: string, error: unknown) => void
  readonly #parsed: Parsed = { columns: new Map(), doubtful: new Set() }
  /** What waits for the next statement that answers. */
  #held: Statement[] = []
  #lost: Error | undefined
  /** Whether the server has heard of a transaction that is not over. */
  #inside = false
  /** How many statements of this transaction have changed something, or may have. */
  written = 0
  /** Whether a statement of this transaction has failed: then all of it has. */
  broken = false

  constructor(client: pg.PoolClient, kept: KeptStatements, warn: (message: string, error: unknown) => void) {
    this.#client = client
    this.#kept = kept
    this.#warn = warn
    this.db = kyselyOver(
      (text, values, how) => (how === 'quiet' ? this.#hold(text, values) : this.rows(text, values)),
      async () => ({ query: (text, values) => this.ask(text, values), release: () => {} }),
    )
  }

  /** Begins a transaction, on the way to its first statement. */
  begin(): void {
    this.written = 0
    this.broken = false
    this.#held = [this.#statement('begin', [])]
  }

  /** Begins one and asks for its number, which is heard before anything of it that answers. */
  async beginKnown(): Promise<string> {
    this.begin()
    const [known] = await this.rows<{ xid: string }>('select pg_current_xact_id()::text as xid')
    return known?.xid ?? ''
  }

  async commit(): Promise<void> {
    const { command } = await this.ask('commit')
    this.#inside = false
    if (command !== 'COMMIT') throw new Error(`a commit was answered with ${command}`)
  }

  async rollBack(): Promise<void> {
    this.#held = []
    if (!this.#inside) return
    await this.ask('rollback')
    this.#inside = false
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.ask(text, values)).rows as Row[]
  }

  /** Sends a statement with all that was held back, and waits for its answer. */
  async ask(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const statements = [...this.#held, this.#statement(text, values)]
    this.#held = []
    this.#inside ||= statements.length > 1
    try {
      const answers = await exchange(this.#client, statements, statements.length - 1, this.#parsed)
      const answer = answers.at(-1)
      if (!answer) throw new Error(`no answer to ${text}`)
      if (answer.command !== 'SELECT' && answer.rowCount) this.written++
      return answer
    } catch (error) {
      return this.#failed(error, text, values)
    }
  }

  /** The rows of several questions at once, of which none is answered if one fails. */
  async rowsOfAll(questions: readonly Question[]): Promise<unknown[][]> {
    const statements = questions.map(({ text, values }) => this.#statement(text, values))
    try {
      return (await exchange(this.#client, statements, 0, this.#parsed)).map(({ rows }) => rows)
    } catch (error) {
      throw this.#fault(error)
    }
  }

  /** Gives a line that works back to the pool. */
  release(): void {
    this.#client.release(this.#lost)
  }

  async #hold(text: string, values: readonly unknown[]): Promise<never[]> {
    this.written++
    this.#held.push(this.#statement(text, values))
    return []
  }

  #statement(text: string, values: readonly unknown[]): Statement {
    // Without values it is a word like `commit`, or was put together for one call.
    const name = values.length > 0 ? this.#kept.nameOf(text) : undefined
    return { text, values: values.map(wireValue), name: name ?? '' }
  }

  async #failed(error: unknown, text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    this.broken = true
    const told = this.#fault(error)
    // Inside a transaction it is too late: the whole of it is tried again.
    if (isOldPlan(error) && !this.#inside) return this.ask(text, values)
    throw told
  }

  /** What the error means for the line, and what is to be thrown. */
  #fault(error: unknown): unknown {
    if (isOldPlan(error)) this.#kept.forget()
    const told = toldApart(error)
    if (isGone(told)) this.#lost = told
    // Where it was asked says more than where the answer was read.
    if (error instanceof Error) Error.captureStackTrace(error)
    // Whoever asked may wait and say nothing.
    if (told instanceof StoreBusy) this.#warn('the database gave up on a statement', error)
    return told
  }
}

const isOldPlan = (error: unknown) => error instanceof pg.DatabaseError && error.code === PLAN_IS_OLD

/** What Kysely asks of a client. */
interface Client {
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>
  release(): void
}

export function kyselyOver(run: DirectPostgres['run'], connect: () => Promise<Client>): Db {
  // Kysely ends only what it has used: whoever opened the pool closes it.
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as unknown as PostgresPool })
  return kyselyWith(dialect, new DirectPostgres(run))
}
