import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Where a page starts and how many rows it has. */
interface PageBounds {
  limit: number
  /** The last row of the page before: its id, or its value in each column of the order. */
  cursor?: string | OrderKey | undefined
}

/** The values of a row in the columns of an order. The id is the last. */
type OrderKey = readonly (string | number)[]

const BY_ID: readonly string[] = ['id']

/**
 * Newest first, after the cursor, and one row more than the page, which shows that another page follows. Ids are
 * time-ordered. `query` selects by the columns of one index that ends with the columns of the order, or has the columns of
 * the filters behind them. With filters ids are searched first, so that the index is enough.
 */
export async function listNewestPage<Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  page: PageBounds,
  filters: readonly Expression<SqlBool>[] = [],
  order = BY_ID,
): Promise<Row[]> {
  if (filters.length === 0) return selectNewest({ query }, page, order).execute()
  const ids = selectNewest({ query: query.clearSelect(), filters }, page, order).select(idOf(order).as('id'))
  return sortNewestFirst(await query.where(idOf(order), 'in', ids).execute(), order)
}

/** The rows among which the newest are searched. */
interface NewestSearch<Table extends keyof Tables, Row> {
  query: SelectQueryBuilder<Tables, Table, Row>
  filters?: readonly Expression<SqlBool>[]
}

interface ProjectsSearch<Table extends keyof Tables, Row> {
  projectIds: readonly string[]
  page: PageBounds
  /** All rows of the list, for the rows of keys that were found. They must match all filters again. */
  rows: NewestSearch<Table, Row>
  /** The rows of one project, or null if it has none. */
  searchIn: (projectId: string) => NewestSearch<Table, Row> | Promise<NewestSearch<Table, Row> | null>
  order?: readonly string[]
}

/**
 * The newest rows of several projects. The newest keys of each are merged, and only the rows of the page are read. One
 * query for all projects cannot read in the order of an index, so the database would sort all of their rows.
 */
export async function listNewestOfProjects<Table extends keyof Tables, Row>(
  list: ProjectsSearch<Table, Row>,
): Promise<Row[]> {
  const { projectIds, page, rows, searchIn, order = BY_ID } = list
  const [only] = projectIds
  if (only === undefined) return []
  if (projectIds.length === 1) {
    const search = await searchIn(only)
    return search ? listNewestPage(search.query, page, search.filters, order) : []
  }
  const keys = await findNewestKeys(list, order)
  const found = keys.length === 0 ? [] : await readRows(rows, keys, page.cursor, order)
  // A row has changed since its key was found. A page without it would look like the last page.
  return found.length < keys.length ? listNewestOfProjects(list) : found
}

/** This many projects are read at a time: each takes a connection of PostgreSQL. */
const MAX_PROJECTS_AT_ONCE = 8

async function findNewestKeys<Table extends keyof Tables, Row>(
  { projectIds, page, searchIn }: ProjectsSearch<Table, Row>,
  order: readonly string[],
): Promise<OrderKey[]> {
  const listKeys = async (projectId: string) => {
    const search = await searchIn(projectId)
    return search ? findKeys(search, page, order) : []
  }
  let newest: OrderKey[] = []
  for (let n = 0; n < projectIds.length; n += MAX_PROJECTS_AT_ONCE) {
    const lists = await Promise.all(projectIds.slice(n, n + MAX_PROJECTS_AT_ONCE).map(listKeys))
    newest = [...newest, ...lists.flat()].toSorted(newestKeyFirst).slice(0, page.limit + 1)
  }
  return newest
}

async function findKeys<Table extends keyof Tables, Row>(
  { query, filters = [] }: NewestSearch<Table, Row>,
  page: PageBounds,
  order: readonly string[],
): Promise<OrderKey[]> {
  const columns = order.map((column, n) => sql.ref<string | number>(column).as(`key${n}`))
  const keys = await selectNewest({ query: query.clearSelect(), filters }, page, order).select(columns).execute()
  return keys.map((key) => order.map((_, n) => key[`key${n}`] ?? ''))
}

async function readRows<Table extends keyof Tables, Row>(
  { query, filters = [] }: NewestSearch<Table, Row>,
  keys: readonly OrderKey[],
  cursor: PageBounds['cursor'],
  order: readonly string[],
): Promise<Row[]> {
  const ids = keys.map((key) => key.at(-1) ?? '')
  // A row that moved to the front of its order since then belongs to an earlier page.
  const isOfPage = cursor === undefined ? [] : [isBefore(order, [cursor].flat())]
  // `is true` keeps the planner from searching by the filters instead of the ids.
  const matching = [...filters, ...isOfPage].reduce(
    (all, filter) => all.where(sql<SqlBool>`(${filter}) is true`),
    query,
  )
  return sortNewestFirst(await matching.where(idOf(order), 'in', ids).execute(), order)
}

/** Sorts here: for an order in the query SQLite might read all rows of an index that has it. */
function sortNewestFirst<Row>(rows: readonly Row[], order: readonly string[]): Row[] {
  const names = order.map((column) => column.slice(column.lastIndexOf('.') + 1))
  const keyOf = (row: Row) => names.map((name) => (row as Record<string, string | number>)[name] ?? '')
  return rows.toSorted((a, b) => newestKeyFirst(keyOf(a), keyOf(b)))
}

function newestKeyFirst(a: OrderKey, b: OrderKey): number {
  const n = a.findIndex((value, column) => value !== b[column])
  return (a[n] ?? '') < (b[n] ?? '') ? 1 : -1
}

function selectNewest<Table extends keyof Tables, Row>(
  { query, filters = [] }: NewestSearch<Table, Row>,
  { limit, cursor }: PageBounds,
  order: readonly string[],
) {
  const ordered = order.reduce((rows, column) => rows.orderBy(sql.ref(column), 'desc'), query)
  const rows = cursor === undefined ? ordered : ordered.where(isBefore(order, [cursor].flat()))
  return filters.reduce((all, filter) => all.where(fenceOff(filter)), rows).limit(limit + 1)
}

/**
 * A condition whose content PostgreSQL does not look into. It would expect few matching rows, and read and sort all of
 * them instead of following the order of the index until the page is full.
 */
const fenceOff = (filter: Expression<SqlBool>) => sql<SqlBool>`case when ${filter} then true else false end`

const isBefore = (order: readonly string[], key: OrderKey) =>
  sql<SqlBool>`(${sql.join(order.map((column) => sql.ref(column)))}) < (${sql.join(key)})`

const idOf = (order: readonly string[]) => sql.ref<string | number>(order.at(-1) ?? 'id')

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
