import { hash } from 'node:crypto'

/** Identifies a collection of a project in the index. Short, because every row of the index contains it. */
export function hashCollection(projectId: string, collection: string): string {
  // Neither part contains a NUL, so two collections never give the same text.
  return hash('sha256', `${projectId}\0${collection}`, 'base64url').slice(0, 16)
}

/** The page of a collection that a filter reads. */
export interface CollectionPage {
  projectId: string
  collection: string
  wedge?: string | undefined
  cursor?: string | undefined
  /** The oldest id of the step that a scan reads. */
  from?: string | undefined
  limit: number
}
