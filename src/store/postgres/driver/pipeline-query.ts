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
 * Sends statements in one message, waits for one response, and returns the result of the last statement. Statements
 * behind one that fails are not run.
 */
export function sendPipeline(
  client: pg.PoolClient,
  statements: readonly PipelineStatement[],
  prepared: PreparedStatements,
): Promise<PipelineResult> {
  return new Promise((resolve, reject) => {
    client.query(new PipelineQuery(statements, prepared, (error, result) => (result ? resolve(result) : reject(error))))
  })
}

type Callback = (error: Error | null | undefined, result?: PipelineResult) => void

/** Several statements as one query of the driver, which calls these methods. */
class PipelineQuery extends pg.Query {
  readonly #statements: readonly PipelineStatement[]
  readonly #prepared: PreparedStatements
  #completed = 0
  #columns: ColumnReader[] | null = null
  readonly #result: PipelineResult = { command: '', rowCount: null, rows: [] }
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
    for (const statement of this.#statements) {
      const { text, name = '', values } = statement
      if (!this.#prepared.has(name)) connection.parse({ name, text })
      if (name !== '' && !this.#prepared.has(name)) this.#prepared.set(name, null)
      connection.bind({ statement: name, values, valueMapper: utils.prepareValue })
      if (statement === this.#last) this.#columns = this.#prepared.get(name) ?? null
      if (statement === this.#last && !this.#columns) connection.describe(PORTAL)
      connection.execute(null)
    }
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: pg.types.getTypeParser(dataTypeID, 'text') }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#completed < this.#statements.length - 1) return
    const row: Record<string, unknown> = {}
    let n = 0
    for (const { name, parse } of this.#columns ?? []) {
      const value = fields[n++]
      row[name] = value == null ? null : parse(value)
    }
    this.#result.rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (++this.#completed < this.#statements.length) return
    const name = this.#last?.name
    if (name !== undefined) this.#prepared.set(name, this.#columns ?? [])
    const [command = '', ...counts] = text.split(' ')
    this.#result.command = command
    this.#result.rowCount = counts.length > 0 ? Number(counts.at(-1)) : null
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#result)
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  /** Only its rows are returned. */
  get #last(): PipelineStatement | undefined {
    return this.#statements.at(-1)
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
