import { sql } from 'kysely'
import type { ProgramFiles } from '../../platform/contract/program-setup.ts'
import type { Db } from '../../platform/store/store.ts'

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

/** Stores the files and returns how many bytes they need more than before. */
export async function putProgramFiles(
  db: Db,
  owner: ProgramFileOwner,
  files: ProgramFiles,
  now: string,
): Promise<number> {
  const removed = await deleteProgramFiles(db, owner)
  const content = JSON.stringify(files)
  await db
    .insertInto('connection_files')
    .values({ ...owner, content, updated_at: now })
    .execute()
  return Buffer.byteLength(content) - removed
}

/** Deletes all files of a connection, of a client, or of both, and returns how many bytes were stored. */
export async function deleteProgramFiles(db: Db, owner: Partial<ProgramFileOwner>): Promise<number> {
  const removed = await db
    .deleteFrom('connection_files')
    .where((eb) => eb.and(owner))
    .returning(sql<number>`octet_length(content)`.as('bytes'))
    .execute()
  return removed.reduce((sum, { bytes }) => sum + bytes, 0)
}
