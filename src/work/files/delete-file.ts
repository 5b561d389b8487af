import { countStoredBytes } from '../../identity/limits/storage-usage.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type Actor, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { deleteFileRow, deleteFileUses, updateFileDeleted, updateUnusedFileDeleted } from './rows.ts'
import { storageOf } from './storage.ts'

/** Deletes a file. Tasks and messages that used it no longer show it. */
export async function deleteFile(ctx: Ctx, actor: Actor, file: FileRow): Promise<void> {
  await inTx(ctx, async (tx) => {
    if (!(await hideFile(tx, file.id))) throw notFound('file')
    const { id, project_id, sha256, size } = file
    await appendAuditEntry(tx, project_id, actor, 'file.deleted', id, { sha256, size })
  })
  await removeHiddenFile(ctx, file)
}

/** Removes a file, or what was stored of an upload, without an audit entry of its own. */
export async function discardFile(ctx: Ctx, file: FileRow): Promise<void> {
  const hidden = await inTx(ctx, (tx) => hideFile(tx, file.id))
  // Without a row as well: the last bytes may have been stored after another call removed the row.
  await removeHiddenFile(ctx, hidden ?? file)
}

/** Hides a file until its bytes are removed. Null if it was hidden before. */
async function hideFile(tx: Tx, id: string): Promise<FileRow | null> {
  const [hidden] = await updateFileDeleted(tx.db, { id })
  await deleteFileUses(tx.db, id)
  return hidden ?? null
}

/** Removes the file, unless something uses it. */
export async function removeUnusedFile(ctx: Ctx, file: FileRow): Promise<void> {
  if (await inTx(ctx, (tx) => hideUnusedFile(tx, file))) await removeHiddenFile(ctx, file)
}

/** False if something uses the file again, or another replica was first. */
async function hideUnusedFile(tx: Tx, { id, project_id, sha256, size }: FileRow): Promise<boolean> {
  const [hidden] = await updateUnusedFileDeleted(tx.db, { id })
  if (!hidden) return false
  await deleteFileUses(tx.db, id)
  await appendAuditEntry(tx, project_id, SYSTEM_ACTOR, 'file.deleted', id, { sha256, size })
  return true
}

/**
 * Removes the bytes and then the row. The row stays until the bytes are gone: if the storage is away or the process dies,
 * the cleanup continues later. Several replicas may do it at the same time.
 */
export async function removeHiddenFile(ctx: Ctx, file: FileRow): Promise<void> {
  try {
    await storageOf(file).remove(ctx, file)
    await inTx(ctx, async (tx) => {
      const [removed] = await deleteFileRow(tx.db, { id: file.id })
      if (removed) countStoredBytes(tx, removed.project_id, -removed.size)
    })
  } catch (err) {
    ctx.world.log.warn({ err, file: file.id }, 'the bytes of a file could not be removed: the cleanup tries again')
  }
}
