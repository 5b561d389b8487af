import type { Db } from '../store/store.ts'

/** Other transactions that lock the client wait until this one ends. */
export async function lockClient(db: Db, id: string): Promise<void> {
  const query = db.updateTable('clients').set((row) => ({ updated_at: row.ref('updated_at') }))
  await query.where('id', '=', id).execute()
}
