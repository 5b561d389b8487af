import { z } from 'zod'
import { badRequest } from '../base/problem.ts'
import type { Db } from '../store/store.ts'
import type { FileRow } from '../store/tables.ts'
import { findFile } from './rows.ts'

/** The field `files` of tasks and messages. */
export const fileIds = z
  .array(z.string())
  .max(20)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name a file twice')
  .meta({ description: 'Ids of files that were uploaded before.' })

/**
 * The files with these ids, in this order. A 400 for a file that does not exist, and for the file of a client other than
 * the one that the work is for. Work without a client may use the files of every client.
 */
export async function requireUsableFiles(
  db: Db,
  { projectId, clientId }: { projectId: string; clientId: string | null },
  ids: readonly string[],
): Promise<FileRow[]> {
  const files: FileRow[] = []
  for (const id of ids) {
    const file = await findFile(db, [projectId], id)
    const isForeign = file && clientId !== null && file.client_id !== null && file.client_id !== clientId
    if (!file || isForeign) throw badRequest(`no such file: ${id.slice(0, 64)}`)
    files.push(file)
  }
  return files
}
