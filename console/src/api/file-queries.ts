import { queryOptions } from '@tanstack/react-query'
import { fetchResponse } from './http.ts'
import type { Schemas } from './types.ts'

/** Types and queries of files. */
export type StoredFile = Schemas.File

/** A file that came in, or an artifact of a task. */
export type ShownFile = Pick<StoredFile, 'id' | 'name' | 'content_type' | 'size'>

const contentPath = ({ id }: ShownFile): string => (id.startsWith('art_') ? `/v1/artifacts/${id}` : `/v1/files/${id}`)

/** Reads the bytes of a file, with the credential of the page. */
export type ReadFile = (file: ShownFile, options?: { signal: AbortSignal }) => Promise<Response>

export const readFile: ReadFile = (file, options) => fetchResponse(contentPath(file), options)

/** The bytes of a file never change. */
export const fileContentQuery = (file: ShownFile, read: ReadFile) =>
  queryOptions({
    queryKey: ['file-content', file.id],
    queryFn: async ({ signal }) => (await read(file, { signal })).blob(),
    staleTime: Infinity,
    gcTime: 60_000,
  })

/** Uploads a file under its own name. */
export async function sendFile(file: File): Promise<StoredFile> {
  const path = `/v1/files?${new URLSearchParams({ name: file.name })}`
  return (await fetchResponse(path, { method: 'POST', body: file })).json()
}
