import type { ProgramFiles } from '../../contract/program-setup.ts'
import type { Db } from '../../store/store.ts'

/** The files of one connection and one client; `client_id` is empty for tasks without a client. */
export interface ProgramFileOwner {
  connection_id: string
  client_id: string
}

/** The files that the server of a connection keeps. The caller has checked that the connection is in scope. */
export async function findProgramFiles(db: Db, owner: ProgramFileOwner): Promise<ProgramFiles> {
  const row = await db
    .selectFrom('connection_files')
    .select('content')
    .where('connection_id', '=', owner.connection_id)
    .where('client_id', '=', owner.client_id)
    .executeTakeFirst()
  return row ? JSON.parse(row.content) : {}
}

/** Locks the files until commit, so that calls that end at the same time do not lose files of each other. */
export async function lockProgramFiles(db: Db, owner: ProgramFileOwner, now: string): Promise<ProgramFiles> {
  const { content } = await db
    .insertInto('connection_files')
    .values({ ...owner, content: '{}', updated_at: now })
    .onConflict((on) => on.columns(['connection_id', 'client_id']).doUpdateSet({ updated_at: now }))
    .returning('content')
    .executeTakeFirstOrThrow()
  return JSON.parse(content)
}

export async function updateProgramFiles(db: Db, owner: ProgramFileOwner, files: ProgramFiles): Promise<void> {
  const content = JSON.stringify(files)
  await db
    .updateTable('connection_files')
    .set({ content })
    .where('connection_id', '=', owner.connection_id)
    .where('client_id', '=', owner.client_id)
    .execute()
}
