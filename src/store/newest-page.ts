import { setImmediate } from 'node:timers/promises'
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Where a page starts and how many rows it has. */
interface PageBounds {
  limit: number
  cursor?: string | undefined
}

/** At most this many rows are compared with filters before other requests get their turn: about 5 ms on SQLite. */
export const MAX_ROWS_PER_STEP = 2_000

/**
 * Newest first, after the cursor, and one row more than the page, which shows that another page follows. Ids are
 * time-ordered. `query` selects by the columns of one index that ends with the id. The filters have no index, so the rows
 * are compared with them in steps: a filter that no row matches must not block a store that reads synchronously.
 */
export async function listNewestPage<Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { limit, cursor }: PageBounds,
  filters: readonly Expression<SqlBool>[] = [],
  idColumn = 'id',
): Promise<Row[]> {
  const id = sql.ref<string | number>(idColumn)
  const newest = query.orderBy(id, 'desc')
  const after = cursor === undefined ? newest : newest.where(id, '<', cursor)
  if (filters.length === 0) return after.limit(limit + 1).execute()
  const found: Row[] = []
  for (let rest = after; ; ) {
    const last = await rest
      .clearSelect()
      .select(id.as('id'))
      .offset(MAX_ROWS_PER_STEP - 1)
      .limit(1)
      .executeTakeFirst()
    const step = last ? rest.where(id, '>=', last.id) : rest
    const matching = filters.reduce((rows, filter) => rows.where(filter), step)
    found.push(...(await matching.limit(limit + 1 - found.length).execute()))
    if (!last || found.length > limit) return found
    rest = newest.where(id, '<', last.id)
    await setImmediate()
  }
}

/**
 * One filter for each column with a value. `coalesce` keeps the planner from using an index of these columns instead of
 * the index that has the order of the list.
 */
export function matchColumns(values: Readonly<Record<string, string | undefined>>): Expression<SqlBool>[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql<SqlBool>`coalesce(${sql.ref(column)}, '') = ${value}`],
  )
}

/**
 * The newest rows of several projects, merged from the newest of each. One query for all projects cannot read in the
 * order of an index, so the database would sort all of their rows.
 */
export async function mergeNewest<Row extends { id: string }>(
  projectIds: readonly string[],
  { limit }: PageBounds,
  listNewest: (projectId: string) => Promise<Row[]>,
): Promise<Row[]> {
  const [first = [], ...others] = await Promise.all(projectIds.map(listNewest))
  if (others.length === 0) return first
  return [...first, ...others.flat()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit + 1)
}
