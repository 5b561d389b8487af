import { z } from 'zod'
import { badRequest } from '../../platform/base/problem.ts'
import type { Db } from '../../platform/store/store.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { findFile, updateFileClient } from './rows.ts'

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
    if (!file || isForeign) throw noSuchFile(id)
    files.push(file)
  }
  return files
}

/**
 * Like `requireUsableFiles`, for the message of a client: what the client sent belongs to the client, although the team's
 * own server uploaded it. It is erased with the client, and no other client's work may use it.
 */
export async function bindFilesToClient(
  db: Db,
  owner: { projectId: string; clientId: string },
  ids: readonly string[],
): Promise<void> {
  for (const { id, client_id } of await requireUsableFiles(db, owner, ids)) {
    if (client_id !== null) continue
    const [bound] = await updateFileClient(db, { id, client_id: owner.clientId })
    if (!bound) throw noSuchFile(id)
  }
}

const noSuchFile = (id: string) => badRequest(`no such file: ${id.slice(0, 64)}`)
