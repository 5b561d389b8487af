import { infiniteQueryOptions } from '@tanstack/react-query'
import { type Call, call } from './http.ts'
import type { Page } from './types.ts'

type Search = Record<string, string | number | undefined>

export function search(query: Search): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}

/** The beginning of a list: as much as one call gives, unless told. */
export async function listOf<T>(path: string, options: Call, query: Search = {}): Promise<T[]> {
  return (await call<Page<T>>(`${path}?${search({ limit: 200, ...query })}`, options)).data
}

/** A list that is read on, a page at a time. */
export const pagesOf = <T>(queryKey: unknown[], path: string, query: Search = {}) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call<Page<T>>(`${path}?${search({ ...query, limit: 50, cursor: pageParam })}`, { signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    select: flat,
  })

const flat = <T>({ pages }: { pages: Page<T>[] }): T[] => pages.flatMap(({ data }) => data)
