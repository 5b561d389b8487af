import { MAX_PROGRAM_FILES_MB, type ProgramFiles } from '../../contract/program-setup.ts'
import { type Ctx, inTx } from '../../ctx/ctx.ts'
import { isoNow } from '../../ctx/world.ts'
import { findConnection } from '../rows.ts'
import { type ProgramFileOwner, lockProgramFiles, updateProgramFiles } from './program-file-rows.ts'

/**
 * Stores what a call has changed. Of a file that two calls changed at the same time the later one counts, and files that
 * this call did not touch stay as they are now. False if they are too large together.
 */
export async function saveProgramFiles(
  ctx: Ctx,
  owner: ProgramFileOwner,
  before: ProgramFiles,
  after: ProgramFiles,
): Promise<boolean> {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((p) => before[p] !== after[p])
  if (changed.length === 0) return true
  return inTx(ctx, async (tx) => {
    if (!(await findConnection(tx.db, owner.connection_id))) return true
    const files = { ...(await lockProgramFiles(tx.db, owner, isoNow(tx))) }
    for (const path of changed) {
      const content = after[path]
      if (content === undefined) delete files[path]
      else files[path] = content
    }
    if (JSON.stringify(files).length > 2 * MAX_PROGRAM_FILES_MB * 1024 * 1024) return false
    await updateProgramFiles(tx.db, owner, files)
    return true
  })
}
