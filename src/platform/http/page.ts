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

/** A moment as ISO 8601 with a time zone. It becomes UTC, as the rows have it. */
export const timeParam = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T09:30:00Z' })
  .transform((text) => new Date(text).toISOString())

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

/** The schema of one page. Its name comes from the items: `TaskList`. */
export function pageSchema(item: z.ZodType) {
  const id = item.meta()?.id
  const page = z.object({ data: z.array(item), next_cursor: z.string().nullable() })
  return id === undefined ? page : page.meta({ id: `${id}List` })
}
