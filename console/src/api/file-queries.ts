import { queryOptions } from '@tanstack/react-query'
import { fetchResponse, uploadFile } from './http.ts'
import type { Schemas } from './types.ts'

/** Types and queries of files. */
export type StoredFile = Schemas['File']

/** The bytes of a file never change. */
export const fileContentQuery = (id: string) =>
  queryOptions({
    queryKey: ['file-content', id],
    queryFn: async ({ signal }) => (await fetchResponse(`/v1/files/${id}`, { signal })).blob(),
    staleTime: Infinity,
    gcTime: 60_000,
  })

/** Uploads a file under its own name. */
export const sendFile = (file: File): Promise<StoredFile> =>
  uploadFile<StoredFile>(`/v1/files?${new URLSearchParams({ name: file.name })}`, file)
