import type { ReactNode } from 'react'
import { errorMessage } from '../api/http.ts'
import { ErrorMessage, Placeholder } from './page-states.tsx'

/** The loaded data, or a placeholder while it loads, or the error. */
export function QueryResult<T>({
  query,
  height = 'h-96',
  children,
}: {
  query: { data: T | undefined; error: Error | null }
  /** The class of the space that is reserved while the data loads. */
  height?: string
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  return query.error ? <ErrorMessage message={errorMessage(query.error)} /> : <Placeholder className={height} />
}
