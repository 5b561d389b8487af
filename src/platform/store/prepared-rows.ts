import { setImmediate } from 'node:timers/promises'
import { type SelectQueryBuilder, sql } from 'kysely'
import { isPostgres } from './dialect.ts'
import { type ArgumentOf, prepareQuery } from './prepared-query.ts'
import type { Db } from './store.ts'
import type { Tables } from './tables.ts'

/**
 * A prepared query that returns many rows. On SQLite each column comes as one text: its driver needs more time to hand over a
 * value than SQLite needs to read it. Thousands of rows take a fifth of the time. Other requests run afterwards.
 */
export function prepareManyRows<Args extends object, Row extends object>(
  columns: readonly (keyof Row & string)[],
  build: (db: Db, arg: ArgumentOf<Args>) => SelectQueryBuilder<Tables, never, Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  const readRows = prepareQuery(build)
  const readColumns = prepareQuery<Args, Record<string, string>>((db, arg) => {
    const texts = columns.map((name) => sql<string>`json_group_array(${sql.ref(`many.${name}`)})`.as(name))
    return db.selectFrom(build(db, arg).as('many')).select(texts)
  })
  return async (db, args) => {
    if (isPostgres(db)) return readRows(db, args)
    const [texts] = await readColumns(db, args)
    // SQLite reads synchronously.
    await setImmediate()
    return joinColumns<Row>(columns.map((name) => [name, JSON.parse(texts?.[name] ?? '[]') as unknown[]]))
  }
}

function joinColumns<Row extends object>(columns: readonly (readonly [keyof Row & string, unknown[]])[]): Row[] {
  return Array.from({ length: columns[0]?.[1].length ?? 0 }, (_, n) => {
    const row: Partial<Record<keyof Row, unknown>> = {}
    for (const [name, values] of columns) row[name] = values[n]
    return row as Row
  })
}
