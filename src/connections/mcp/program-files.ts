import { MAX_PROGRAM_FILES_MB, type ProgramFiles } from '../../contract/program-setup.ts'
import { type Ctx, inTx } from '../../ctx/ctx.ts'
import { isoNow } from '../../ctx/world.ts'
import { findConnection } from '../rows.ts'
import { lockProgramFiles, updateProgramFiles } from './program-file-rows.ts'

/**
 * Stores what a call has changed. Of a file that two calls changed at the same time the later one counts, and files that
 * this call did not touch stay as they are now.
 */
export async function saveProgramFiles(
  ctx: Ctx,
  connectionId: string,
  before: ProgramFiles,
  after: ProgramFiles,
): Promise<void> {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((p) => before[p] !== after[p])
  if (changed.length === 0) return
  await inTx(ctx, async (tx) => {
    if (!(await findConnection(tx.db, connectionId))) return
    const files = { ...(await lockProgramFiles(tx.db, connectionId, isoNow(tx))) }
    for (const path of changed) {
      const content = after[path]
      if (content === undefined) delete files[path]
      else files[path] = content
    }
    if (JSON.stringify(files).length <= 2 * MAX_PROGRAM_FILES_MB * 1024 * 1024)
      await updateProgramFiles(tx.db, connectionId, files)
  })
}
