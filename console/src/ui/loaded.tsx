import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf } from '../api/http.ts'
import { Failure, Waiting } from './empty.tsx'

/** What was read, or room for it, or why it cannot be read. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  return query.error ? <Failure message={messageOf(query.error)} /> : <Waiting className="h-96" />
}
