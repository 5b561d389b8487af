import { queryOptions } from '@tanstack/react-query'
import { callOperation } from './http.ts'
import { fetchList } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of cases. */
export type Case = Schemas.Case

export type CaseHistoryEntry = Case['history'][number]

export const casesQuery = (wedge: string | undefined, status: 'open' | 'closed') =>
  queryOptions({
    queryKey: ['cases', wedge ?? 'all', status],
    queryFn: ({ signal }) => fetchList('listCases', { wedge, status }, { signal }),
  })

export const caseQuery = (id: string) =>
  queryOptions({
    queryKey: ['cases', 'one', id],
    queryFn: ({ signal }) => callOperation('getCase', { id }, { signal }),
  })

/** The files of its tasks and of its conversation. */
export const caseFilesQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'case-files', id],
    queryFn: async ({ signal }) => (await callOperation('listCaseFiles', { id }, { signal })).data,
  })

/** The cases of a client, of every wedge and status. */
export const clientCasesQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['cases', 'client', clientId],
    queryFn: ({ signal }) => fetchList('listCases', { client_id: clientId, limit: 20 }, { signal }),
  })
