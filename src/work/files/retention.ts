import { setImmediate } from 'node:timers/promises'
import { appendAuditEntry } from '../../audit/append.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { type Actor, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { removeHiddenFile } from './delete-file.ts'
import { listOldFiles, updateUnusedFileDeleted } from './retention-rows.ts'
import { deleteFileUses } from './rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** About 5 ms on SQLite. */
const FILES_PER_BATCH = 100

/**
 * Removes files that are older than `days` and that nothing uses any more. A file of a message stays as long as the
 * message, and a file of a task as long as the log of the task. All replicas can run this at the same time.
 */
export const removeUnusedFiles = (ctx: Ctx, days: number): Promise<void> => removeUnused(ctx, days, () => true)

/** Removes what clients uploaded or sent for a message that never arrived. Files of the team may be used later. */
export const removeUnusedIncomingFiles = (ctx: Ctx): Promise<void> => removeUnused(ctx, 1, isIncoming)

const isIncoming = ({ client_id, created_by }: FileRow): boolean => {
  const { kind }: Actor = JSON.parse(created_by)
  return client_id !== null && (kind === 'client' || kind === SYSTEM_ACTOR.kind)
}

async function removeUnused(ctx: Ctx, days: number, isIncluded: (file: FileRow) => boolean): Promise<void> {
  const before = toIsoTime(ctx.world.clock.now() - days * DAY_MS)
  for (let after = ''; ; ) {
    const files = await listOldFiles(ctx.db, { before, after, limit: FILES_PER_BATCH })
    for (const { is_unused, ...file } of files)
      if (is_unused === 1 && isIncluded(file)) await removeUnusedFile(ctx, file)
    const last = files.at(-1)
    if (!last || files.length < FILES_PER_BATCH) return
    after = last.id
    await setImmediate()
  }
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
