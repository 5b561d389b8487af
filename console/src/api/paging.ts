import { infiniteQueryOptions } from '@tanstack/react-query'
import { type ApiRequest, callApi } from './http.ts'
import type { Page } from './types.ts'

type QueryParams = Record<string, string | number | undefined>

export function queryString(query: QueryParams): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
}

/** The first page of a list; 200 items unless the query sets another limit. */
export async function fetchList<T>(path: string, options: ApiRequest, query: QueryParams = {}): Promise<T[]> {
  return (await callApi<Page<T>>(`${path}?${queryString({ limit: 200, ...query })}`, options)).data
}

/** A list that is loaded page by page. */
export const pagedQuery = <T>(queryKey: unknown[], path: string, query: QueryParams = {}) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      callApi<Page<T>>(`${path}?${queryString({ ...query, limit: 50, cursor: pageParam })}`, { signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    select: flattenPages,
  })

const flattenPages = <T>({ pages }: { pages: Page<T>[] }): T[] => pages.flatMap(({ data }) => data)
