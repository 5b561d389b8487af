import { queryOptions } from '@tanstack/react-query'
import { callApi } from './http.ts'
import { fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of cases. */
export type Case = Schemas['Case']

export type CaseHistoryEntry = Case['history'][number]

export const casesQuery = (wedge: string | undefined, status: 'open' | 'closed') =>
  queryOptions({
    queryKey: ['cases', wedge ?? 'all', status],
    queryFn: ({ signal }) => fetchList<Case>('/v1/cases', { signal }, { wedge, status }),
  })

export const caseQuery = (id: string) =>
  queryOptions({
    queryKey: ['cases', 'one', id],
    queryFn: ({ signal }) => callApi<Case>(`/v1/cases/${id}`, { signal }),
  })

/** The files of its tasks and of its conversation. */
export const caseFilesQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'case-files', id],
    queryFn: ({ signal }) => fetchList<Schemas['File']>(`/v1/cases/${id}/files`, { signal }),
  })

/** The cases of a client, of every wedge and status. */
export const clientCasesQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['cases', 'client', clientId],
    queryFn: ({ signal }) => fetchList<Case>('/v1/cases', { signal }, { client_id: clientId, limit: 20 }),
  })
