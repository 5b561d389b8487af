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
 * A query that is compiled once and run often: compiling it costs more than SQLite needs to run it. `build` uses
 * `arg('name')` where an argument belongs. All other values become part of the SQL text, because a store finds a partial
 * index by the text, and SQLite plans a statement again on every call if its `limit`, `like` or partial-index term is a
 * parameter.
 *
 *   const findTask = prepareQuery<{ id: string }, Task>((db, arg) => db.selectFrom('tasks').selectAll().where('id', '=', arg('id')))
 *   const [task] = await findTask(db, { id })
 */
export function prepareQuery<Args extends object, Row = never>(
  build: BuildQuery<Args, Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  // Tests open both kinds of store in one process, and the compiled text differs.
  const compiledFor = new Map<boolean, Compiled<Row>>()
  return async (db, args) => {
    const kind = isPostgres(db)
    let compiled = compiledFor.get(kind)
    if (!compiled) {
      const tree = build(db, (name) => new ArgumentSlot(name) as never).toOperationNode()
      const compiler = kind ? new PostgresInlineCompiler() : new SqliteInlineCompiler()
      const query = compiler.compileQuery(tree as RootOperationNode, createQueryId()) as CompiledQuery<Row>
      compiled = { query, mode: returnsRows(query.query) ? 'awaited' : 'deferred' }
      compiledFor.set(kind, compiled)
    }
    const { query, mode } = compiled
    const values = query.parameters.map((slot) => args[(slot as ArgumentSlot).name as keyof Args])
    return runCompiled(db, query, values, mode)
  }
}

/** Stands for an argument while a query is built. */
export type ArgumentOf<Args> = <Name extends keyof Args>(name: Name) => Args[Name]

type BuildQuery<Args, Row> = (db: Db, arg: ArgumentOf<Args>) => QueryBuilder<Row>

interface Compiled<Row> {
  query: CompiledQuery<Row>
  mode: StatementMode
}

const returnsRows = (tree: RootOperationNode) => tree.kind === 'SelectQueryNode' || 'returning' in tree

/** What all builders of Kysely have in common; `compile` carries the type of the rows. */
type QueryBuilder<Row> = OperationNodeSource & { compile(): CompiledQuery<Row> }

/** The placeholder of an argument. */
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

/** In `on conflict do update`, a column of the row that could not be inserted. */
export const excluded = (column: string) => sql.ref<never>(`excluded.${column}`)
