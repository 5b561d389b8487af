import { setImmediate } from 'node:timers/promises'
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Where a page starts and how many rows it has. */
interface PageBounds {
  limit: number
  cursor?: string | undefined
}

/** So many rows are compared with filters in the first step. The next steps are larger if that took no time. */
export const MAX_ROWS_PER_STEP = 2_000
/** A step that takes longer would delay other requests on a store that reads synchronously. */
const MAX_STEP_MS = 4

/**
 * Newest first, after the cursor, and one row more than the page, which shows that another page follows. Ids are
 * time-ordered. `query` selects by the columns of one index that ends with the id, or has the columns of the filters behind
 * it. The rows are compared with the filters in steps: a filter that no row matches must not block a store that reads
 * synchronously. Only ids are searched, so that the index is enough.
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
  const found: (string | number)[] = []
  let size = MAX_ROWS_PER_STEP
  for (let rest = after.clearSelect().select(id.as('id')); ; ) {
    const start = performance.now()
    const last = await rest
      .offset(size - 1)
      .limit(1)
      .executeTakeFirst()
    const step = last ? rest.where(id, '>=', last.id) : rest
    const matching = filters.reduce((rows, filter) => rows.where(filter), step)
    found.push(...(await matching.limit(limit + 1 - found.length).execute()).map((row) => row.id))
    if (!last || found.length > limit) break
    rest = newest.clearSelect().select(id.as('id')).where(id, '<', last.id)
    size = nextStepSize(size, performance.now() - start)
    await setImmediate()
  }
  return found.length === 0 ? [] : newest.where(id, 'in', found).execute()
}

/** Steps over an index with the columns of the filters are fast, so that few large ones are enough. */
export function nextStepSize(size: number, ms: number): number {
  return ms < MAX_STEP_MS / 2 ? size * 2 : Math.max(MAX_ROWS_PER_STEP, Math.floor((size * MAX_STEP_MS) / ms / 2))
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

/** The filter for rows that were found by the id of something that belongs to one project, such as a client. */
export const isInProjects = (projectIds: readonly string[], column = 'project_id'): Expression<SqlBool> =>
  sql<SqlBool>`coalesce(${sql.ref(column)}, '') in (${sql.join(projectIds)})`

/**
 * The newest rows of several projects, merged from the newest of each. One query for all projects cannot read in the
 * order of an index, so the database would sort all of their rows.
 */
export async function mergeNewest<Row extends { id: string }>(
  projectIds: readonly string[],
  { limit }: PageBounds,
  listNewest: (projectId: string) => Promise<Row[]>,
): Promise<Row[]> {
  const [first = [], ...others] = await inTurns(projectIds, listNewest)
  if (others.length === 0) return first
  return [...first, ...others.flat()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit + 1)
}

/** Starts each read in its own turn of the event loop, because a store that reads synchronously would block for all. */
export function inTurns<T>(projectIds: readonly string[], read: (projectId: string) => Promise<T>): Promise<T[]> {
  return Promise.all(
    projectIds.map(async (projectId, n) => {
      for (let turn = 0; turn < n; turn++) await setImmediate()
      return read(projectId)
    }),
  )
}
