import { setImmediate } from 'node:timers/promises'
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { isPostgres } from './dialect.ts'
import type { Db } from './store.ts'
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

/** This many rows are compared with filters in the first step. The next steps are larger if that took no time. */
export const MAX_ROWS_PER_STEP = 2_000
/** Longer steps would delay other requests on a store that reads synchronously. */
const STEP_MS = 4
/** A step can be slower than the one before, if it reads from the disk. */
const MAX_STEP_GROWTH = 8

/**
 * Newest first, after the cursor, and one row more than the page, which shows that another page follows. Ids are
 * time-ordered. `query` selects by the columns of one index that ends with the columns of the order, or has the columns of
 * the filters behind them. With filters only keys are searched, so that the index is enough.
 */
export async function listNewestPage<Table extends keyof Tables, Row>(
  db: Db,
  query: SelectQueryBuilder<Tables, Table, Row>,
  page: PageBounds,
  filters: readonly Expression<SqlBool>[] = [],
  order = BY_ID,
): Promise<Row[]> {
  const search = { query, filters }
  if (filters.length > 0) return readFoundRows(search, page, order, (rest) => findKeys(db, search, rest, order))
  return after(inOrder(query, order), order, page.cursor)
    .limit(page.limit + 1)
    .execute()
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
  /**
   * The rows of one project, or null if it has none. Without filters the query may be limited to the newest `limit + 1`
   * after the cursor, which is the id of a row.
   */
  searchIn: (
    projectId: string,
    page: { limit: number; cursor: string | undefined },
  ) => NewestSearch<Table, Row> | Promise<NewestSearch<Table, Row> | null>
  order?: readonly string[]
}

/**
 * The newest rows of several projects. The newest keys of each are merged, and only the rows of the page are read. One
 * query for all projects cannot read in the order of an index, so the database would sort all of their rows.
 */
export async function listNewestOfProjects<Table extends keyof Tables, Row>(
  db: Db,
  { projectIds, page, rows, searchIn, order = BY_ID }: ProjectsSearch<Table, Row>,
): Promise<Row[]> {
  const [only] = projectIds
  if (only === undefined) return []
  if (projectIds.length === 1) {
    const search = await searchIn(only, pageById(page))
    return search ? listNewestPage(db, search.query, page, search.filters, order) : []
  }
  return readFoundRows(rows, page, order, (rest) =>
    mergeNewest(projectIds, rest, newestKeyFirst, async (projectId) => {
      const search = await searchIn(projectId, pageById(rest))
      return search ? findKeys(db, search, rest, order) : []
    }),
  )
}

const pageById = ({ limit, cursor }: PageBounds) => ({
  limit,
  cursor: cursor === undefined ? undefined : String([cursor].flat().at(-1)),
})

function newestKeyFirst(a: OrderKey, b: OrderKey): number {
  const n = a.findIndex((value, column) => value !== b[column])
  return (a[n] ?? '') < (b[n] ?? '') ? 1 : -1
}

/**
 * The rows of the keys that `find` returns. A row can change after its key was found: if it does not match any more, it is
 * left out and the search continues after the last key, because a page with too few rows would look like the last page.
 */
async function readFoundRows<Table extends keyof Tables, Row>(
  search: NewestSearch<Table, Row>,
  page: PageBounds,
  order: readonly string[],
  find: (rest: PageBounds) => Promise<OrderKey[]>,
): Promise<Row[]> {
  const found: Row[] = []
  for (let rest = page; ; ) {
    const keys = await find(rest)
    found.push(...(await readRows(search, keys, order, rest.cursor)))
    if (keys.length <= rest.limit || found.length > page.limit) return found
    rest = { limit: page.limit - found.length, cursor: keys.at(-1) }
  }
}

async function readRows<Table extends keyof Tables, Row>(
  { query, filters = [] }: NewestSearch<Table, Row>,
  keys: readonly OrderKey[],
  order: readonly string[],
  cursor: PageBounds['cursor'],
): Promise<Row[]> {
  if (keys.length === 0) return []
  const idColumn = order.at(-1) ?? 'id'
  const ids = keys.map((key) => key.at(-1) ?? '')
  // A row that moved to the front of its order since then belongs to an earlier page.
  const isOfPage = cursor === undefined ? [] : [compareKeys(order, '<', [cursor].flat())]
  // `is true` keeps the planner from searching by the filters instead of the ids.
  const rows = await [...filters, ...isOfPage]
    .reduce(
      (all, filter) => all.where(sql<SqlBool>`(${filter}) is true`),
      query.where(sql.ref<string | number>(idColumn), 'in', ids),
    )
    .execute()
  // Sorted here: for an order in the query SQLite might read all rows of an index that has it.
  const idName = idColumn.slice(idColumn.lastIndexOf('.') + 1)
  const placeOf = new Map(ids.map((id, n) => [id, n]))
  const place = (row: Row) => placeOf.get((row as Record<string, string | number>)[idName] ?? '') ?? ids.length
  return rows.toSorted((a, b) => place(a) - place(b))
}

/** PostgreSQL stops when the page is full. A synchronous store would be blocked by a filter that no row matches. */
function findKeys<Table extends keyof Tables, Row>(
  db: Db,
  { query, filters = [] }: NewestSearch<Table, Row>,
  { limit, cursor }: PageBounds,
  order: readonly string[],
): Promise<OrderKey[]> {
  const all = inOrder(query.clearSelect(), order)
  const rows = after(all, order, cursor)
  if (isPostgres(db) || filters.length === 0) return findMatching(rows, filters, order, limit + 1)
  return findInSteps({ all, rows, filters, order, limit: limit + 1 })
}

interface StepwiseSearch<Table extends keyof Tables> {
  all: SelectQueryBuilder<Tables, Table, object>
  /** Those after the cursor. */
  rows: SelectQueryBuilder<Tables, Table, object>
  filters: readonly Expression<SqlBool>[]
  order: readonly string[]
  limit: number
}

async function findInSteps<Table extends keyof Tables>(search: StepwiseSearch<Table>): Promise<OrderKey[]> {
  const { all, filters, order, limit } = search
  const found: OrderKey[] = []
  let size = MAX_ROWS_PER_STEP
  for (let { rows } = search; ; ) {
    const start = performance.now()
    const [last] = await findMatching(rows.offset(size - 1), [], order, 1)
    const step = last ? rows.where(compareKeys(order, '>=', last)) : rows
    found.push(...(await findMatching(step, filters, order, limit - found.length)))
    if (!last || found.length >= limit) return found
    rows = after(all, order, last)
    size = nextStepSize(size, performance.now() - start)
    await setImmediate()
  }
}

async function findMatching<Table extends keyof Tables>(
  rows: SelectQueryBuilder<Tables, Table, object>,
  filters: readonly Expression<SqlBool>[],
  order: readonly string[],
  limit: number,
): Promise<OrderKey[]> {
  const keys = rows.select(order.map((column, n) => sql.ref<string | number>(column).as(`key${n}`))).limit(limit)
  const matching = await filters.reduce((all, filter) => all.where(fenceOff(filter)), keys).execute()
  return matching.map((row) => order.map((_, n) => row[`key${n}`] ?? ''))
}

/**
 * A condition whose content PostgreSQL does not look into. It would expect few matching rows, and read and sort all of
 * them instead of following the order of the index until the page is full.
 */
const fenceOff = (filter: Expression<SqlBool>) => sql<SqlBool>`case when ${filter} then true else false end`

const inOrder = <Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  order: readonly string[],
) => order.reduce((rows, column) => rows.orderBy(sql.ref(column), 'desc'), query)

const after = <Table extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, Table, Row>,
  order: readonly string[],
  cursor: string | OrderKey | undefined,
) => (cursor === undefined ? rows : rows.where(compareKeys(order, '<', [cursor].flat())))

const compareKeys = (order: readonly string[], operator: '<' | '>=', key: OrderKey) =>
  sql<SqlBool>`(${sql.join(order.map((column) => sql.ref(column)))}) ${sql.raw(operator)} (${sql.join(key)})`

/** Steps over an index with the columns of the filters are fast, so that few large ones are enough. */
function nextStepSize(size: number, ms: number): number {
  const growth = Math.min(MAX_STEP_GROWTH, STEP_MS / Math.max(ms, 0.1))
  return Math.max(MAX_ROWS_PER_STEP, Math.floor(size * growth))
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

/** This many sources are read at a time: each takes a connection of PostgreSQL. */
const MAX_SOURCES_AT_ONCE = 8

/** The newest of what several sources list, each in order: one more than the page. */
async function mergeNewest<Source, T>(
  sources: readonly Source[],
  { limit }: PageBounds,
  newestFirst: (a: T, b: T) => number,
  listNewest: (source: Source) => Promise<T[]>,
): Promise<T[]> {
  let newest: T[] = []
  for (let n = 0; n < sources.length; n += MAX_SOURCES_AT_ONCE) {
    const lists = await Promise.all(sources.slice(n, n + MAX_SOURCES_AT_ONCE).map(listNewest))
    newest = [...newest, ...lists.flat()].toSorted(newestFirst).slice(0, limit + 1)
  }
  return newest
}
