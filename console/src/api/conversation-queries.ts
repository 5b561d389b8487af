import { queryOptions } from '@tanstack/react-query'
import type { ConversationFilter } from '../search-params.ts'
import { callOperation } from './http.ts'
import { pagedQuery, fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of conversations. They are keyed under `tasks`, because most messages come with a task. */
export type ThreadSummary = Schemas.ThreadSummary
export type Thread = Schemas.Thread
export type Message = Schemas.Message

const FILTER_PARAMS: Record<ConversationFilter, Record<string, string>> = {
  open: { status: 'open' },
  unread: { unread: 'true' },
  unanswered: { unanswered: 'true' },
  mine: { held_by: 'me' },
  closed: { status: 'closed' },
}

/** The conversation with the newest activity comes first. */
export const conversationsQuery = (filter: ConversationFilter, q: string) =>
  pagedQuery(['tasks', 'conversations', filter, q], 'listThreads', { order: 'activity', ...FILTER_PARAMS[filter], q })

/** How many conversations have unread messages, up to 200. */
export const unreadCountQuery = queryOptions({
  queryKey: ['tasks', 'conversations', 'unread-count'],
  queryFn: async ({ signal }) =>
    (await fetchList('listThreads', { ...FILTER_PARAMS.unread, order: 'activity' }, { signal })).length,
})

export const clientThreadsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['tasks', 'threads', clientId],
    queryFn: ({ signal }) =>
      fetchList('listThreads', { client_id: clientId, order: 'activity', limit: 50 }, { signal }),
  })

export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'thread', id],
    queryFn: ({ signal }) => callOperation('getThread', { id }, { signal }),
  })
