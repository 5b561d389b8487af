import { infiniteQueryOptions } from '@tanstack/react-query'
import type { CallArguments } from '../../../clients/typescript/src/operation.ts'
import { callOperation, type PageRequest } from './http.ts'
import type { OPERATIONS, Operations } from './openapi.ts'

interface Page<Item> {
  data: Item[]
  next_cursor: string | null
}

/** The operations whose result is one page of a list. */
type ListOperation = {
  [Id in keyof typeof OPERATIONS]: Operations[Id]['result'] extends Page<unknown> ? Id : never
}[keyof typeof OPERATIONS]

type ListItem<Id extends ListOperation> = Operations[Id]['result']['data'][number]

/** The first page of a list; 200 items unless the parameters set another limit. */
export async function fetchList<Id extends ListOperation>(
  operation: Id,
  params: Operations[Id]['params'],
  options: PageRequest,
): Promise<ListItem<Id>[]> {
  return (await fetchPage(operation, { limit: 200, ...params }, options)).data
}

/** A list that is loaded page by page. */
export const pagedQuery = <Id extends ListOperation>(
  queryKey: unknown[],
  operation: Id,
  params: Operations[Id]['params'],
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(operation, { ...params, limit: 50, cursor: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    select: flattenPages,
  })

function fetchPage<Id extends ListOperation>(operation: Id, params: object, options: PageRequest) {
  const given = [params, options] as unknown as CallArguments<Operations[Id]['params'], PageRequest>
  return callOperation(operation, ...given) as Promise<Page<ListItem<Id>>>
}

const flattenPages = <Item>({ pages }: { pages: Page<Item>[] }): Item[] => pages.flatMap(({ data }) => data)
