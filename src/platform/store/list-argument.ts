import { type SqlBool, sql } from 'kysely'
import { isPostgres } from './dialect.ts'
import type { Db } from './store.ts'

/** A list as one argument of a prepared query, whose text then does not depend on the length of the list. */
export type ListArgument = readonly string[] | string

export const toListArgument = (db: Db, values: readonly string[]): ListArgument =>
  isPostgres(db) ? values : JSON.stringify(values)

export const isInList = (db: Db, column: string, list: ListArgument) =>
  isPostgres(db)
    ? sql<SqlBool>`${sql.ref(column)} = any(cast(${list} as text[]))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${list}))`

/** Rows as one argument; `tableOf` selects them. */
export const toRowsArgument = (rows: readonly (readonly string[])[]): string => JSON.stringify(rows)

export function tableOf<Column extends string>(db: Db, rows: string, columns: readonly Column[]) {
  const elements = isPostgres(db) ? sql`json_array_elements(cast(${rows} as json))` : sql`json_each(${rows})`
  const values = columns.map((column, n) => sql`value ->> ${sql.lit(n)} as ${sql.ref(column)}`)
  return sql<Record<Column, string>>`(select ${sql.join(values)} from ${elements} as elements)`
}
