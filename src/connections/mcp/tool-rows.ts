import type { Db } from '../../platform/store/store.ts'
import type { ConnectionToolRow } from '../../platform/store/tables.ts'

/** The tools of one connection in the server's order. The caller has checked that the connection is in scope. */
export function listToolRows(db: Db, connectionId: string): Promise<ConnectionToolRow[]> {
  return db
    .selectFrom('connection_tools')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .orderBy('position')
    .orderBy('name')
    .execute()
}

export function findToolRow(db: Db, connectionId: string, name: string): Promise<ConnectionToolRow | undefined> {
  return db
    .selectFrom('connection_tools')
    .selectAll()
    .where('connection_id', '=', connectionId)
    .where('name', '=', name)
    .executeTakeFirst()
}

export async function upsertToolRow(db: Db, row: ConnectionToolRow): Promise<void> {
  const { connection_id: _connection, name: _name, ...values } = row
  await db
    .insertInto('connection_tools')
    .values(row)
    .onConflict((on) => on.columns(['connection_id', 'name']).doUpdateSet(values))
    .execute()
}

export async function deleteToolRow(db: Db, { connection_id, name }: ConnectionToolRow): Promise<void> {
  await db.deleteFrom('connection_tools').where('connection_id', '=', connection_id).where('name', '=', name).execute()
}

/** Gives the tool a class and confirms it. False if it has changed since it was read. */
export async function updateToolClass(
  db: Db,
  { connection_id, name, hash }: ConnectionToolRow,
  changes: Pick<ConnectionToolRow, 'class' | 'updated_at'>,
): Promise<boolean> {
  const result = await db
    .updateTable('connection_tools')
    .set({ ...changes, state: 'confirmed' })
    .where('connection_id', '=', connection_id)
    .where('name', '=', name)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}
