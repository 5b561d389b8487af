import { z } from 'zod'
import { type IdPrefix, idPattern } from '../base/ids.ts'

const MAX_PAGE_SIZE = 200

/** A number in a query: text on the way, an integer for those who read the reference. */
export const integerParam = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'must be a whole number of at least 1')
  .meta({ type: 'integer', pattern: undefined, minimum: 1 })

/** Every list takes these. One that got mixed up must not look like the end of the list, so a cursor has to be like its own. */
export const pageQuery = (cursor: RegExp) => ({
  limit: integerParam.optional().transform((limit) => Math.min(limit ? Number(limit) : 50, MAX_PAGE_SIZE)),
  cursor: z.string().regex(cursor, 'must be a next_cursor of this list').optional(),
})

/** Ids are time-ordered, so the last id of a page is its cursor. */
export const pageQueryById = (prefix: IdPrefix) => pageQuery(idPattern(prefix))

/** What a list is narrowed by. Not empty: a value that got lost on the way to us must not answer with everything. */
export const filterParam = z.string().min(1, 'must not be empty').optional()

export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

export interface Page<T> {
  data: T[]
  next_cursor: string | null
}

/** Of `limit + 1` rows that were asked for, the last only tells that there are more. */
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
 * The newest rows of several projects, from the newest of each. One question for all of them could not be answered in
 * the order of an index: the store would sort all that they have.
 */
export async function mergeNewest<Row extends { id: string }>(
  projectIds: readonly string[],
  most: number,
  newestIn: (projectId: string) => Promise<Row[]>,
): Promise<Row[]> {
  const [only, ...others] = await Promise.all(projectIds.map(newestIn))
  if (others.length === 0) return only ?? []
  return [...(only ?? []), ...others.flat()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, most)
}

/** One page of a list, named after its items: `TaskList`. */
export function pageSchema(item: z.ZodType) {
  const id = item.meta()?.id
  const page = z.object({ data: z.array(item), next_cursor: z.string().nullable() })
  return id === undefined ? page : page.meta({ id: `${id}List` })
}
