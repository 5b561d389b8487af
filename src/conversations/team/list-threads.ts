import type { Db } from '../../platform/store/store.ts'
import type { ThreadRow } from '../../platform/store/tables.ts'
import { activityCursor, type ConversationFilter, listActiveConversations, listConversations } from './rows.ts'
import { listThreadsWithText } from './search-rows.ts'

/** A text has no index. One request compares at most this many threads; the next page continues behind them. */
export const MAX_SEARCHED_THREADS = 1_000
/** Of several projects the newest of each are read first, so that fewer are compared. */
const MIN_SEARCHED_THREADS = 200

export interface ThreadListQuery extends ConversationFilter {
  order: 'created' | 'activity'
  /** Text in the subject, the client or the messages. */
  q?: string | undefined
}

/** One page of threads. A search may return a short page with a cursor, because it has not compared all threads. */
export async function listThreadPage(db: Db, projectIds: readonly string[], { order, q, ...filter }: ThreadListQuery) {
  const list = order === 'activity' ? listActiveConversations : listConversations
  const cursorOf = order === 'activity' ? activityCursor : (row: ThreadRow) => row.id
  if (q === undefined) return toThreadPage(await list(db, projectIds, filter), filter.limit, cursorOf)
  const limit = Math.max(MIN_SEARCHED_THREADS, Math.floor(MAX_SEARCHED_THREADS / projectIds.length))
  const searched = await list(db, projectIds, { ...filter, limit })
  const compared = searched.slice(0, limit)
  const ids = compared.map(({ id }) => id)
  const matching = ids.length === 0 ? new Set<string>() : await listThreadsWithText(db, ids, q)
  const found = compared.filter(({ id }) => matching.has(id))
  const page = toThreadPage(found, filter.limit, cursorOf)
  const last = compared.at(-1)
  const isComplete = searched.length <= limit || page.next_cursor !== null || !last
  return isComplete ? page : { ...page, next_cursor: cursorOf(last) }
}

function toThreadPage(rows: readonly ThreadRow[], limit: number, cursorOf: (row: ThreadRow) => string) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, next_cursor: rows.length > limit && last ? cursorOf(last) : null }
}
