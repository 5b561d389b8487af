import {
  type CompiledQuery,
  createQueryId,
  type OperationNodeSource,
  PostgresQueryCompiler,
  type RootOperationNode,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { isPostgres, type Manner, runCompiled } from './dialect.ts'
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
export function prepared<Args extends object, Row = never>(
  build: Build<Args, Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  return inManner(build, 'plain')
}

/** The same for a read of few rows by their key. What is glanced at in one moment goes to PostgreSQL in one message. */
export function glance<Args extends object, Row>(build: Build<Args, Row>): (db: Db, args: Args) => Promise<Row[]> {
  return inManner(build, 'glance')
}

/** The same for a lock: nobody waits for it, but what is asked next comes after it. */
export function hold<Args extends object>(build: Build<Args, unknown>): (db: Db, args: Args) => Promise<unknown> {
  return inManner(build, 'quiet')
}

type Build<Args, Row> = (db: Db, arg: <Name extends keyof Args>(name: Name) => Args[Name]) => Buildable<Row>

function inManner<Args extends object, Row>(
  build: Build<Args, Row>,
  manner: Manner,
): (db: Db, args: Args) => Promise<Row[]> {
  // One deployment has one store, but the tests open both kinds in one process: the compiled text differs.
  const compiledFor = new Map<boolean, Compiled<Row>>()
  return async (db, args) => {
    const kind = isPostgres(db)
    let compiled = compiledFor.get(kind)
    if (!compiled) {
      const tree = build(db, (name) => new Slot(name) as never).toOperationNode()
      const compiler = kind ? new PostgresWords() : new SqliteWords()
      const query: CompiledQuery<Row> = compiler.compileQuery(tree as RootOperationNode, createQueryId())
      compiled = { query, how: answers(query.query) ? manner : 'quiet' }
      compiledFor.set(kind, compiled)
    }
    const { query, how } = compiled
    const values = query.parameters.map((slot) => args[(slot as Slot).name as keyof Args])
    return runCompiled(db, query, values, how)
  }
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  how: Manner
}

/** Whether it has rows to tell of. */
const answers = (tree: RootOperationNode) => tree.kind === 'SelectQueryNode' || 'returning' in tree

/** What Kysely's builders have in common; `compile` carries the type of the rows. */
type Buildable<Row> = OperationNodeSource & { compile(): CompiledQuery<Row> }

/** Stands in a query where an argument goes. */
class Slot {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

class SqliteWords extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Slot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

class PostgresWords extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Slot) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

/** A bare column reference for `on conflict do update`: the row that could not be inserted. */
export const excluded = (column: string) => sql.ref<never>(`excluded.${column}`)
