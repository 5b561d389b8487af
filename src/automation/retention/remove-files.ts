import { setImmediate } from 'node:timers/promises'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { type Actor, SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { toIsoTime } from '../../platform/ctx/world.ts'
import type { FileRow } from '../../platform/store/tables.ts'
import { removeHiddenFile, removeUnusedFile } from '../../work/files/delete-file.ts'
import { listFilesToRemove, listOldFiles, updateUploadDeleted } from './file-rows.ts'

const DAY_MS = 24 * 60 * 60_000
/** About 5 ms on SQLite. */
const FILES_PER_BATCH = 100
const MAX_UPLOAD_MS = DAY_MS
const MAX_FILES_PER_SWEEP = 200

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

/** Removes uploads that never finished, and deleted files whose bytes could not be removed at the time. */
export async function removeUnfinishedFiles(ctx: Ctx): Promise<void> {
  const before = toIsoTime(ctx.world.clock.now() - MAX_UPLOAD_MS)
  for (const file of await listFilesToRemove(ctx.db, before, MAX_FILES_PER_SWEEP)) {
    const isHidden = file.state === 'deleted' || (await endUpload(ctx, file.id))
    if (isHidden) await removeHiddenFile(ctx, file)
  }
}

/** False if the upload finished in the meantime. */
async function endUpload(ctx: Ctx, id: string): Promise<boolean> {
  const [hidden] = await inTx(ctx, (tx) => updateUploadDeleted(tx.db, { id }))
  return hidden !== undefined
}
