import { queryOptions } from '@tanstack/react-query'
import { callOperation } from './http.ts'
import type { Schemas } from './types.ts'

export type ConnectionTool = Schemas.ConnectionTool

export type ToolClass = ConnectionTool['class']

/** A service that is ready to be connected: the service knows its address, its operations and how it authorises. */
export type Preset = Schemas.Preset

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => callOperation('getConnection', { id }, { signal }),
  })

export const healthQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'health', id],
    queryFn: ({ signal }) => callOperation('getConnectionHealth', { id }, { signal }),
  })

export const toolsQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'tools', id],
    queryFn: ({ signal }) => callOperation('listConnectionTools', { id }, { signal }).then(({ data }) => data),
  })

export const presetsQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: ({ signal }) => callOperation('listPresets', {}, { signal }).then(({ data }) => data),
  staleTime: Infinity,
})

export const testConnection = (id: string) => callOperation('testConnection', { id })

export const saveSecret = (id: string, value: string) => callOperation('setConnectionSecret', { id, body: { value } })
