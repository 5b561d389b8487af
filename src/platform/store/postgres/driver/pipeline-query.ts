import pg from 'pg'

export interface PipelineStatement {
  text: string
  values: readonly unknown[]
  /** The server keeps a named statement parsed and planned; it parses and plans one without a name on every call. */
  name?: string | undefined
}

/** The named statements that a connection has sent, with the columns of their rows once these are known. */
export type PreparedStatements = Map<string, ColumnReader[] | null>

interface ColumnReader {
  name: string
  parse: (text: string) => unknown
}

export type PipelineResult = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>

/**
 * Sends statements in one message, waits for one response, and returns the result of the last statement. Statements behind
 * one that fails are not run.
 */
export function sendPipeline(
  client: pg.PoolClient,
  statements: readonly PipelineStatement[],
  prepared: PreparedStatements,
): Promise<PipelineResult | undefined> {
  return new Promise((resolve, reject) => {
    const settle: Callback = (error, result) => (error ? reject(error) : resolve(result))
    client.query(new PipelineQuery(statements, prepared, settle))
  })
}

type Callback = (error: Error | null | undefined, result?: PipelineResult) => void

/** Several statements as one query of the driver, which calls these methods. */
class PipelineQuery extends pg.Query {
  readonly #statements: readonly PipelineStatement[]
  readonly #prepared: PreparedStatements
  #completed = 0
  /** The columns of each statement, as known when it was sent; the server describes the others. */
  readonly #columns: (ColumnReader[] | null)[] = []
  #rows: unknown[] = []
  #result: PipelineResult | undefined
  /** The driver wraps the callback in order to apply its timeout. */
  declare callback: Callback

  constructor(statements: readonly PipelineStatement[], prepared: PreparedStatements, callback: Callback) {
    super('', callback as never)
    this.#statements = statements
    this.#prepared = prepared
  }

  requiresPreparation(): boolean {
    return true
  }

  prepare(connection: DriverConnection): void {
    this.#statements.forEach(({ text, name = '', values }, n) => {
      if (!this.#prepared.has(name)) connection.parse({ name, text })
      if (name !== '' && !this.#prepared.has(name)) this.#prepared.set(name, null)
      connection.bind({ statement: name, values, valueMapper: utils.prepareValue })
      this.#columns[n] = this.#prepared.get(name) ?? null
      if (this.#isLast(n) && !this.#columns[n]) connection.describe(PORTAL)
      connection.execute(null)
    })
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#columns[this.#completed] = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (!this.#isLast(this.#completed)) return
    const row: Record<string, unknown> = {}
    let n = 0
    for (const { name, parse } of this.#columns[this.#completed] ?? []) {
      const value = fields[n++]
      row[name] = value == null ? null : parse(value)
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    const n = this.#completed++
    if (!this.#isLast(n)) return
    const name = this.#statements[n]?.name
    if (name !== undefined) this.#prepared.set(name, this.#columns[n] ?? [])
    const [command = '', ...counts] = text.split(' ')
    const rowCount = counts.length > 0 ? Number(counts.at(-1)) : null
    this.#result = { command, rowCount, rows: this.#rows }
  }

  #isLast(n: number): boolean {
    return n === this.#statements.length - 1
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#result)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}

const PORTAL = { type: 'P', name: '' }

/** Methods of the driver that its types do not declare. */
interface DriverConnection {
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void
  describe(portal: typeof PORTAL): void
  execute(portal: null): void
  sync(): void
}

const { utils } = pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }
