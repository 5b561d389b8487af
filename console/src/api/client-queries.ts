import { queryOptions } from '@tanstack/react-query'
import { callOperation } from './http.ts'
import { fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of clients and channels. */
export type Client = Schemas.Client

export type Channel = Schemas.Channel

export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => fetchList('listChannels', {}, { signal }),
})

export type ChannelAdapter = Schemas.ChannelAdapter

/** The services that can carry the messages of a channel. They change only with the version of the service. */
export const channelAdaptersQuery = queryOptions({
  queryKey: ['channel-adapters'],
  queryFn: async ({ signal }) => (await callOperation('listChannelAdapters', {}, { signal })).data,
  staleTime: Infinity,
})

export const clientsQuery = (handle: string) =>
  queryOptions({
    queryKey: ['clients', 'list', handle],
    queryFn: ({ signal }) => fetchList('listClients', { handle }, { signal }),
  })

export const clientQuery = (id: string) =>
  queryOptions({
    queryKey: ['clients', 'one', id],
    queryFn: ({ signal }) => callOperation('getClient', { id }, { signal }),
  })
