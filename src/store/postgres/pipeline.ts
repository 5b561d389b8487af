import pg from 'pg'

export interface PipelineStatement {
  text: string
  values: unknown[]
  /** Empty for one that does not come often. */
  name: string
}

/** What a connection knows of the statements with a name. */
export interface ParsedStatements {
  /** How to read what they answer with; null until that was told. Only the connection itself can tell when it changes. */
  columns: Map<string, ColumnReaders | null>
  /** Those of which nobody knows whether the server has parsed them. */
  doubtful: Set<string>
}

/** In the order of the answer. */
type ColumnReaders = { name: string; parse: (text: string) => unknown }[]

/**
 * Sends statements in one message and answers what each of them did; what comes after one that fails is not done. The
 * driver would take a question, a promise and a description of the columns for each, and the server would send every
 * answer by itself. `heard`: from which on the rows are wanted.
 */
export function sendPipeline(
  client: pg.PoolClient,
  statements: PipelineStatement[],
  heard: number,
  parsed: ParsedStatements,
): Promise<pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new PipelineQuery(statements, heard, parsed, (error, answers) => (answers ? resolve(answers) : reject(error))),
    )
  })
}

type Callback = (error: Error | null | undefined, answers?: pg.QueryResult[]) => void

/** A query of the driver that is several; its methods are called by the driver. */
class PipelineQuery extends pg.Query {
  readonly #statements: PipelineStatement[]
  readonly #heard: number
  readonly #parsed: ParsedStatements
  /** What was parsed for the first time. */
  readonly #fresh: string[] = []
  readonly #answers: pg.QueryResult[] = []
  #rows: unknown[] = []
  /** How to read what each answers with, as it was known when they were sent; what is not is told with the answer. */
  readonly #columns: (ColumnReaders | null)[] = []
  /** The driver wraps it, to keep the time. */
  declare callback: Callback

  constructor(statements: PipelineStatement[], heard: number, parsed: ParsedStatements, callback: Callback) {
    super('', callback as never)
    this.#statements = statements
    this.#heard = heard
    this.#parsed = parsed
  }

  requiresPreparation(): boolean {
    return true
  }

  prepare(wire: DriverConnection): void {
    this.#statements.forEach(({ text, name, values }, at) => {
      this.#parse(wire, name, text)
      wire.bind({ statement: name, values })
      this.#columns[at] = this.#parsed.columns.get(name) ?? null
      if (at >= this.#heard && !this.#columns[at]) wire.describe(PORTAL)
      wire.execute(null)
    })
    wire.sync()
  }

  #parse(wire: DriverConnection, name: string, text: string): void {
    const { columns, doubtful } = this.#parsed
    if (columns.has(name)) return
    if (doubtful.delete(name)) wire.close({ type: 'S', name })
    wire.parse({ name, text })
    if (name === '') return
    columns.set(name, null)
    this.#fresh.push(name)
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#columns[this.#answers.length] = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    let n = 0
    for (const { name, parse } of this.#columns[this.#answers.length] ?? []) {
      const value = fields[n++]
      row[name] = value == null ? null : parse(value)
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    const at = this.#answers.length
    const name = this.#statements[at]?.name ?? ''
    // One that was described and told of no columns has none.
    if (at >= this.#heard && name !== '') this.#parsed.columns.set(name, this.#columns[at] ?? [])
    const [command = '', ...counts] = text.split(' ')
    const rowCount = counts.length > 0 ? Number(counts.at(-1)) : null
    this.#answers.push({ command, rowCount, rows: this.#rows, oid: 0, fields: [] })
    this.#rows = []
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#answers)
  }

  handleError(error: Error): void {
    for (const name of this.#fresh) {
      this.#parsed.columns.delete(name)
      this.#parsed.doubtful.add(name)
    }
    this.callback(error)
  }
}

const PORTAL = { type: 'P', name: '' }

/** What a connection of the driver can say. */
interface DriverConnection {
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: unknown[] }): void
  describe(what: typeof PORTAL): void
  execute(portal: null): void
  close(what: { type: 'S'; name: string }): void
  sync(): void
}

const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } }

/** A value as it goes over the wire. */
export const toWireValue = (value: unknown): unknown => (typeof value === 'string' ? value : utils.prepareValue(value))
