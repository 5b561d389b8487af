import type { Duplex } from 'node:stream'
import { PostgresDialect, type PostgresPool } from 'kysely'
import pg from 'pg'
import { toldApart } from './away.ts'
import { DirectPostgres, kyselyWith } from './dialect.ts'
import type { KeptStatements } from './kept-statements.ts'
import type { Db } from './store.ts'

/** What PostgreSQL says when a kept statement would answer with other columns than it was planned for. */
export const PLAN_IS_OLD = '0A000'

/**
 * One connection. A way to the database and back costs more than most statements, so nobody waits for what answers
 * nothing: it goes with the next statement that does, and what fails of it is told then, at the latest by the commit.
 */
export class Line {
  /** Whoever uses it has the line alone. */
  readonly db: Db
  readonly #client: pg.PoolClient
  readonly #kept: KeptStatements
  /** What nobody waited for yet, and the first error of it. */
  #unheard: Promise<void>[] = []
  #failed: Error | undefined
  #lost: Error | undefined
  #held = false
  /** How many statements of this transaction have changed something, or may have. */
  written = 0
  /** Whether a statement of this transaction has failed: then all of it has. */
  broken = false

  constructor(client: pg.PoolClient, kept: KeptStatements) {
    this.#client = client
    this.#kept = kept
    this.db = kyselyOver(
      (text, values, quiet) => (quiet ? this.#send(text, values) : this.rows(text, values)),
      async () => ({ query: (text, values) => this.ask(text, values), release: () => {} }),
    )
  }

  /** Begins a transaction, on the way to its first statement. */
  begin(): void {
    this.#anew()
    void this.#send('begin', [])
  }

  /** Begins one and asks for its number, which is heard before anything of it that answers. */
  async beginKnown(): Promise<string> {
    this.#anew()
    const [known] = await this.rows<{ xid: string }>('begin; select pg_current_xact_id()::text as xid')
    return known?.xid ?? ''
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.ask(text, values)).rows as Row[]
  }

  /** Sends a statement with all that was held back, and waits for its answer. */
  async ask(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const asking = this.#submit(text, values)
    this.#letGo()
    const [asked] = await Promise.allSettled([asking, ...this.#unheard.splice(0)])
    // First: what comes after a statement that failed fails with it, and a commit is answered as if it had gone well.
    if (this.#failed) throw this.#failed
    if (asked.status === 'rejected') throw asked.reason
    if (asked.value.command !== 'SELECT' && asked.value.rowCount) this.written++
    return asked.value
  }

  /** Gives a line that works back to the pool. */
  release(): void {
    this.#letGo()
    this.#client.release(this.#lost)
    this.#failed = undefined
  }

  #anew(): void {
    this.written = 0
    this.broken = false
  }

  async #send(text: string, values: readonly unknown[]): Promise<never[]> {
    this.#hold()
    this.written++
    const sent = this.#submit(text, values).then(
      () => {},
      (error: Error) => {
        this.#failed ??= error
      },
    )
    this.#unheard.push(sent)
    return []
  }

  async #submit(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await query(this.#client, this.#kept, text, values)
    } catch (error) {
      this.broken = true
      const told = toldApart(error)
      if (told !== error && told instanceof Error) this.#lost = told
      throw told
    }
  }

  #hold(): void {
    if (!this.#held) streamOf(this.#client).cork()
    this.#held = true
  }

  #letGo(): void {
    if (this.#held) streamOf(this.#client).uncork()
    this.#held = false
  }
}

const streamOf = (client: pg.PoolClient) => (client as unknown as { connection: { stream: Duplex } }).connection.stream

async function query(client: pg.PoolClient, kept: KeptStatements, text: string, given: readonly unknown[]) {
  const values = given as unknown[]
  const name = values.length > 0 ? kept.nameOf(text) : undefined
  try {
    const answer: pg.QueryResult | pg.QueryResult[] = await client.query({ ...(name && { name }), text, values })
    // Of several statements in one message the last one answers.
    return (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryResult
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === PLAN_IS_OLD)) throw error
    kept.forget()
    // Inside a transaction it is too late: the whole of it is tried again.
    return client.query(text, values).catch(() => Promise.reject(error))
  }
}

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
