import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import type { Connection } from './setup-queries.ts'
import type { Schemas } from './types.ts'

/** Types and queries of one connection: its health and its tools, and the presets that new connections start from. */
export type ConnectionHealth = Schemas['ConnectionHealth']

export type ConnectionTool = Schemas['ConnectionTool']

export type ToolClass = ConnectionTool['class']

export type SavedConnection = Schemas['ConnectionWithWarnings']

/** A service that is ready to be connected: the service knows its address, its operations and how it authorises. */
export type Preset = Schemas['Preset']

export interface ConnectionTestResult {
  ok: boolean
  checked: string
  status: number | null
  error: string | null
}

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => callApi<Connection>(`/v1/connections/${id}`, { signal }),
  })

export const healthQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'health', id],
    queryFn: ({ signal }) => callApi<ConnectionHealth>(`/v1/connections/${id}/health`, { signal }),
  })

export const toolsQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'tools', id],
    queryFn: ({ signal }) =>
      callApi<{ data: ConnectionTool[] }>(`/v1/connections/${id}/tools`, { signal }).then(({ data }) => data),
  })

export const presetsQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: ({ signal }) => callApi<{ data: Preset[] }>('/v1/presets', { signal }).then(({ data }) => data),
  staleTime: Infinity,
})

export const testConnection = (id: string) =>
  callApi<ConnectionTestResult>(`/v1/connections/${id}/test`, { method: 'POST' })

export const saveSecret = (id: string, value: string) =>
  callApi<Connection>(`/v1/connections/${id}/secret`, { method: 'POST', body: { value } })
