import { countStoredBytes } from '../accounts/storage-usage.ts'
import { appendAuditEntry } from '../audit/append.ts'
import { notFound } from '../base/problem.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import type { FileRow } from '../store/tables.ts'
import { deleteFileRow, deleteFileUses, updateFileDeleted } from './rows.ts'
import { storageOf } from './storage.ts'

/** Deletes a file. Tasks and messages that used it no longer show it. */
export async function deleteFile(ctx: Ctx, actor: Actor, file: FileRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await hideFile(tx, file.id))) throw notFound('file')
    const { id, project_id, sha256, size } = file
    await appendAuditEntry(tx, project_id, actor, 'file.deleted', id, { sha256, size })
  })
  await removeDeletedFile(ctx, file)
}

/** False if the file was deleted before. */
async function hideFile(tx: Tx, id: string): Promise<boolean> {
  const [hidden] = await updateFileDeleted(tx.db, { id })
  await deleteFileUses(tx.db, id)
  return hidden !== undefined
}

/** Gives an upload up and removes what was stored. */
export async function discardFile(ctx: Ctx, file: FileRow): Promise<void> {
  await inTx(ctx, (tx) => hideFile(tx, file.id))
  await removeDeletedFile(ctx, file)
}

/**
 * Removes the bytes and then the row. The row stays until the bytes are gone, so that the cleanup continues if the
 * process dies in between. Several replicas may do it at the same time.
 */
async function removeDeletedFile(ctx: Ctx, file: FileRow): Promise<void> {
  await storageOf(file).remove(ctx, file)
  await inTx(ctx, async (tx) => {
    const [removed] = await deleteFileRow(tx.db, { id: file.id })
    if (removed) countStoredBytes(tx, removed.project_id, -removed.size)
  })
}
