import { type Compilable, type CompiledQuery, sql } from 'kysely'
import { isPostgres, runCompiled } from './dialect.ts'
import type { Db } from './store.ts'

/**
 * A query that is built once and run often: building SQL from Kysely's tree costs more than SQLite needs to run it.
 * `build` gets the arguments by name and writes them where a value belongs.
 *
 *   const findTask = prepared<{ id: string }, Task>((db, arg) => db.selectFrom('tasks').selectAll().where('id', '=', arg('id')))
 *   const [task] = await findTask(db, { id })
 */
export function prepared<Args extends object, Row = never>(
  build: (db: Db, arg: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  // One deployment has one store, but the tests open both kinds in one process: the compiled text differs.
  const compiledFor = new Map<boolean, CompiledQuery<Row>>()
  return async (db, args) => {
    const kind = isPostgres(db)
    let compiled = compiledFor.get(kind)
    if (!compiled) {
      compiled = build(db, (name) => new Slot(name) as never).compile()
      compiledFor.set(kind, compiled)
    }
    const parameters = compiled.parameters.map((value) =>
      value instanceof Slot ? args[value.name as keyof Args] : value,
    )
    return runCompiled(db, { ...compiled, parameters })
  }
}

/** Stands in a compiled query where an argument goes. */
class Slot {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

/** A bare column reference for `on conflict do update`: the row that could not be inserted. */
export const excluded = (column: string) => sql.ref<never>(`excluded.${column}`)

/** A value in the words of the statement: stores find a partial index by its words, not by a parameter. */
export const literal = <T extends string | number>(value: T) => sql.lit(value)
