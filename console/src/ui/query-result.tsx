import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { errorMessage } from '../api/http.ts'
import { ErrorMessage, Placeholder } from './page-states.tsx'

/** The loaded data, or a placeholder while it loads, or the error. */
export function QueryResult<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  return query.error ? <ErrorMessage message={errorMessage(query.error)} /> : <Placeholder className="h-96" />
}
