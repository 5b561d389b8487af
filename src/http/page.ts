import { z } from 'zod'
import { type IdPrefix, idPattern } from '../base/ids.ts'

const MAX_PAGE_SIZE = 200

/** A number in a query string: text in the request, an integer in the OpenAPI document. */
export const integerParam = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'must be a whole number of at least 1')
  .meta({ type: 'integer', pattern: undefined, minimum: 1 })

/** The parameters of every list. A cursor of another list is refused: it would look like the end of this one. */
export const pageQuery = (cursor: RegExp) => ({
  limit: integerParam.optional().transform((limit) => Math.min(limit ? Number(limit) : 50, MAX_PAGE_SIZE)),
  cursor: z.string().regex(cursor, 'must be a next_cursor of this list').optional(),
})

/** Ids are time-ordered, so the last id of a page is its cursor. */
export const pageQueryById = (prefix: IdPrefix) => pageQuery(idPattern(prefix))

/** A filter of a list. It must not be empty: a client that lost its value must not get every row. */
export const filterParam = z.string().min(1, 'must not be empty').optional()

export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

export interface Page<T> {
  data: T[]
  next_cursor: string | null
}

/** A page of `limit` rows. Callers read `limit + 1` rows: the extra row only shows that there is a next page. */
export function toPage<Row, T>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
  show: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { data: shown.map(show), next_cursor: rows.length > limit && last ? cursorOf(last) : null }
}

/**
 * The newest rows of several projects, merged from the newest of each. One query for all projects cannot read in the
 * order of an index, so the database would sort all of their rows.
 */
export async function mergeNewest<Row extends { id: string }>(
  projectIds: readonly string[],
  maxRows: number,
  listNewest: (projectId: string) => Promise<Row[]>,
): Promise<Row[]> {
  const [first = [], ...others] = await Promise.all(projectIds.map(listNewest))
  if (others.length === 0) return first
  return [...first, ...others.flat()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, maxRows)
}

/** The schema of one page. Its name comes from the items: `TaskList`. */
export function pageSchema(item: z.ZodType) {
  const id = item.meta()?.id
  const page = z.object({ data: z.array(item), next_cursor: z.string().nullable() })
  return id === undefined ? page : page.meta({ id: `${id}List` })
}
