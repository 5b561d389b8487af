import { lockClient } from '../../identity/organisations/project-client-rows.ts'
import { reserveStoredBytes } from '../../identity/limits/storage-usage.ts'
import { MAX_PROGRAM_FILES, MAX_PROGRAM_FILES_MB, type ProgramFiles } from '../../platform/contract/program-setup.ts'
import { type Ctx, inDurableTx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { lockConnection } from '../connection/rows.ts'
import { findProgramFiles, type ProgramFileOwner, putProgramFiles } from './program-file-rows.ts'

/**
 * Stores what a call has changed. Of a file that two calls changed at the same time the later one counts, and files that
 * this call did not touch stay as they are now. False if they are too large together. Nothing is stored for a connection or
 * a client that was deleted meanwhile.
 */
export async function saveProgramFiles(
  ctx: Ctx,
  owner: ProgramFileOwner,
  before: ProgramFiles,
  after: ProgramFiles,
): Promise<boolean> {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((p) => before[p] !== after[p])
  if (changed.length === 0) return true
  return inDurableTx(ctx, async (tx) => {
    if (owner.client_id !== '' && !(await lockClient(tx.db, owner.client_id))) return true
    // The lock lets the calls that end at the same time store their files one after the other.
    const projectId = await lockConnection(tx.db, owner.connection_id)
    if (projectId === null) return true
    const files = { ...(await findProgramFiles(tx.db, owner)) }
    for (const path of changed) {
      const content = after[path]
      if (content === undefined) delete files[path]
      else files[path] = content
    }
    if (!isWithinLimits(files)) return false
    reserveStoredBytes(tx, projectId, await putProgramFiles(tx.db, owner, files, isoNow(tx)))
    return true
  })
}

function isWithinLimits(files: ProgramFiles): boolean {
  const contents = Object.values(files)
  const bytes = contents.reduce((sum, base64) => sum + Buffer.byteLength(base64, 'base64'), 0)
  return contents.length <= MAX_PROGRAM_FILES && bytes <= MAX_PROGRAM_FILES_MB * 1024 * 1024
}
