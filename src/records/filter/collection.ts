import { hash } from 'node:crypto'
import type { ColumnsByPath } from './column-rows.ts'

/** Where the index has what a collection of a project holds. Short, because it stands in every row. */
export function hashCollection(projectId: string, collection: string): string {
  // Neither contains a NUL, so two places never read the same.
  return hash('sha256', `${projectId}\0${collection}`, 'base64url').slice(0, 16)
}

/** Where a filter looks: the shelf of a collection in a project, and what of it makes a page. */
export interface CollectionPage {
  projectId: string
  shelf: string
  columns: ColumnsByPath
  wedge?: string | undefined
  cursor?: string | undefined
  limit: number
}
