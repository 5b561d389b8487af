import type { Db } from '../store/store.ts'

/** Other transactions that lock the client wait until this one ends. False if the client does not exist. */
export async function lockClient(db: Db, id: string): Promise<boolean> {
  const query = db.updateTable('clients').set((row) => ({ updated_at: row.ref('updated_at') }))
  const { numUpdatedRows } = await query.where('id', '=', id).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
