import { queryOptions } from '@tanstack/react-query'
import type { ConversationFilter } from '../search-params.ts'
import { callApi } from './http.ts'
import { pagedQuery, fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of conversations. They are keyed under `tasks`, because most messages come with a task. */
export type ThreadSummary = Schemas['ThreadSummary']
export type Thread = Schemas['Thread']
export type Message = Schemas['Message']

const FILTER_PARAMS: Record<ConversationFilter, Record<string, string>> = {
  open: { status: 'open' },
  unread: { unread: 'true' },
  unanswered: { unanswered: 'true' },
  mine: { held_by: 'me' },
  closed: { status: 'closed' },
}

/** The conversation with the newest activity comes first. */
export const conversationsQuery = (filter: ConversationFilter, q: string) =>
  pagedQuery<ThreadSummary>(['tasks', 'conversations', filter, q], '/v1/threads', {
    order: 'activity',
    ...FILTER_PARAMS[filter],
    q,
  })

/** How many conversations have unread messages, up to 200. */
export const unreadCountQuery = queryOptions({
  queryKey: ['tasks', 'conversations', 'unread-count'],
  queryFn: async ({ signal }) =>
    (await fetchList<ThreadSummary>('/v1/threads', { signal }, { ...FILTER_PARAMS.unread, order: 'activity' })).length,
})

export const clientThreadsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['tasks', 'threads', clientId],
    queryFn: ({ signal }) =>
      fetchList<ThreadSummary>('/v1/threads', { signal }, { client_id: clientId, order: 'activity', limit: 50 }),
  })

export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'thread', id],
    queryFn: ({ signal }) => callApi<Thread>(`/v1/threads/${id}`, { signal }),
  })
