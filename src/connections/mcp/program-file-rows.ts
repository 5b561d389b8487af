import type { ProgramFiles } from '../../contract/program-setup.ts'
import type { Db } from '../../store/store.ts'

/** The files that the server of a connection keeps. The caller has checked that the connection is in scope. */
export async function findProgramFiles(db: Db, connectionId: string): Promise<ProgramFiles> {
  const query = db.selectFrom('connection_files').select('content').where('connection_id', '=', connectionId)
  const row = await query.executeTakeFirst()
  return row ? JSON.parse(row.content) : {}
}

/** Locks the files until commit, so that calls that end at the same time do not lose files of each other. */
export async function lockProgramFiles(db: Db, connectionId: string, now: string): Promise<ProgramFiles> {
  const { content } = await db
    .insertInto('connection_files')
    .values({ connection_id: connectionId, content: '{}', updated_at: now })
    .onConflict((on) => on.column('connection_id').doUpdateSet({ updated_at: now }))
    .returning('content')
    .executeTakeFirstOrThrow()
  return JSON.parse(content)
}

export async function updateProgramFiles(db: Db, connectionId: string, files: ProgramFiles): Promise<void> {
  const content = JSON.stringify(files)
  await db.updateTable('connection_files').set({ content }).where('connection_id', '=', connectionId).execute()
}
