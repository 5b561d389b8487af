import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import { fetchList } from './paging.ts'
import type { JsonObject } from './types.ts'

/** Types and queries of clients, channels, threads and cases. */
export interface Client {
  id: string
  display_name: string | null
  handles: string[]
  metadata: JsonObject
  created_at: string
}

export interface Channel {
  id: string
  connection_id: string
  address: string
  wedge: string
  task_type: string
}

export interface ThreadSummary {
  id: string
  client_id: string
  subject: string | null
  status: 'open' | 'closed'
  message_count: number
  updated_at: string
}

export interface Message {
  id: string
  direction: 'inbound' | 'outbound'
  from: { handle: string | null; name: string | null } | null
  to: string[] | null
  body: string
  task_id: string | null
  created_at: string
}

export interface Thread extends ThreadSummary {
  messages: Message[]
}

export interface Case {
  id: string
  wedge: string
  title: string | null
  stage: string
  status: 'open' | 'closed'
  client_id: string | null
  data: JsonObject
  history: { from: string | null; to: string; at: string; by: { kind: string; id: string }; note: string | null }[]
  task_ids: string[]
  updated_at: string
}

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => fetchList<Channel>('/v1/channels', { signal }),
})

export const clientsQuery = (handle: string) =>
  queryOptions({
    queryKey: ['clients', 'list', handle],
    queryFn: ({ signal }) => fetchList<Client>('/v1/clients', { signal }, { handle }),
  })

export const clientQuery = (id: string) =>
  queryOptions({
    queryKey: ['clients', 'one', id],
    queryFn: ({ signal }) => callApi<Client>(`/v1/clients/${id}`, { signal }),
  })

/** Keyed under `tasks`, because an inbound message starts a task and its end sends the reply. */
export const threadsQuery = (clientId?: string) =>
  queryOptions({
    queryKey: ['tasks', 'threads', clientId ?? 'all'],
    queryFn: ({ signal }) => fetchList<ThreadSummary>('/v1/threads', { signal }, { client_id: clientId }),
  })

export const threadQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'thread', id],
    queryFn: ({ signal }) => callApi<Thread>(`/v1/threads/${id}`, { signal }),
  })

export const casesQuery = (wedge: string | undefined, status: 'open' | 'closed') =>
  queryOptions({
    queryKey: ['cases', wedge ?? 'all', status],
    queryFn: ({ signal }) => fetchList<Case>('/v1/cases', { signal }, { wedge, status }),
  })
