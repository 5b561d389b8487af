import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import { fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of clients, channels and threads. */
export type Client = Schemas['Client']

export type Channel = Schemas['Channel']

export type ThreadSummary = Schemas['ThreadSummary']

export type Message = Schemas['Message']

export type Thread = Schemas['Thread']

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
