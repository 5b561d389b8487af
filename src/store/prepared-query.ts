import {
  type CompiledQuery,
  createQueryId,
  type OperationNodeSource,
  PostgresQueryCompiler,
  type RootOperationNode,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { isPostgres, type StatementMode, runCompiled } from './dialect.ts'
import type { Db } from './store.ts'

/**
 * A query that is built once and run often: building SQL from Kysely's tree costs more than SQLite needs to run it.
 * `build` gets the arguments by name and writes them where a value belongs. Every other value stands in the words of
 * the statement: stores find a partial index by its words, and SQLite plans a statement anew, each time, whose `limit`,
 * `like` or term of a partial index is a parameter.
 *
 *   const findTask = prepared<{ id: string }, Task>((db, arg) => db.selectFrom('tasks').selectAll().where('id', '=', arg('id')))
 *   const [task] = await findTask(db, { id })
 */
export function prepareQuery<Args extends object, Row = never>(
  build: BuildQuery<Args, Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  return prepareInMode(build, 'plain')
}

/** The same for a read of few rows by their key. What is glanced at in one moment goes to PostgreSQL in one message. */
export function prepareBatchedRead<Args extends object, Row>(
  build: BuildQuery<Args, Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  return prepareInMode(build, 'glance')
}

/** The same for a lock: nobody waits for it, but what is asked next comes after it. */
export function prepareLock<Args extends object>(
  build: BuildQuery<Args, unknown>,
): (db: Db, args: Args) => Promise<unknown> {
  return prepareInMode(build, 'quiet')
}

type BuildQuery<Args, Row> = (db: Db, arg: <Name extends keyof Args>(name: Name) => Args[Name]) => QueryBuilder<Row>

function prepareInMode<Args extends object, Row>(
  build: BuildQuery<Args, Row>,
  manner: StatementMode,
): (db: Db, args: Args) => Promise<Row[]> {
  // One deployment has one store, but the tests open both kinds in one process: the compiled text differs.
  const compiledFor = new Map<boolean, Compiled<Row>>()
  return async (db, args) => {
    const kind = isPostgres(db)
    let compiled = compiledFor.get(kind)
    if (!compiled) {
      const tree = build(db, (name) => new ArgumentSlot(name) as never).toOperationNode()
      const compiler = kind ? new PostgresInlineCompiler() : new SqliteInlineCompiler()
      const query: CompiledQuery<Row> = compiler.compileQuery(tree as RootOperationNode, createQueryId())
      compiled = { query, how: returnsRows(query.query) ? manner : 'quiet' }
      compiledFor.set(kind, compiled)
    }
    const { query, how } = compiled
    const values = query.parameters.map((slot) => args[(slot as ArgumentSlot).name as keyof Args])
    return runCompiled(db, query, values, how)
  }
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  how: StatementMode
}

/** Whether it has rows to tell of. */
const returnsRows = (tree: RootOperationNode) => tree.kind === 'SelectQueryNode' || 'returning' in tree

/** What Kysely's builders have in common; `compile` carries the type of the rows. */
type QueryBuilder<Row> = OperationNodeSource & { compile(): CompiledQuery<Row> }

/** Stands in a query where an argument goes. */
class ArgumentSlot {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

class SqliteInlineCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof ArgumentSlot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

class PostgresInlineCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof ArgumentSlot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

/** A bare column reference for `on conflict do update`: the row that could not be inserted. */
export const excluded = (column: string) => sql.ref<never>(`excluded.${column}`)
