import type { Db } from '../../platform/store/store.ts'

/** Other transactions that lock the client wait until this one ends. False if the client does not exist. */
export async function lockClient(db: Db, id: string): Promise<boolean> {
  const query = db.updateTable('clients').set((row) => ({ updated_at: row.ref('updated_at') }))
  const { numUpdatedRows } = await query.where('id', '=', id).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function isClientOfProject(db: Db, projectId: string, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('clients')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '=', clientId)
    .executeTakeFirst()
  return row !== undefined
}
