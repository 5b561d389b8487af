import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { OauthFlowRow, TokenLockRow, VaultRow } from '../../platform/store/tables.ts'

/** A connection has one open flow: a new start replaces the previous one. */
export async function upsertOauthFlow(db: Db, flow: OauthFlowRow): Promise<void> {
  const { connection_id: _id, ...rest } = flow
  const insert = db.insertInto('oauth_flows').values(flow)
  await insert.onConflict((conflict) => conflict.column('connection_id').doUpdateSet(rest)).execute()
}

/** Removes the flow, so that its state works once: of concurrent callbacks one gets the row. */
export async function takeOauthFlow(db: Db, stateHash: string): Promise<OauthFlowRow | null> {
  const taken = await db.deleteFrom('oauth_flows').where('state_hash', '=', stateHash).returningAll().executeTakeFirst()
  return taken ?? null
}

export async function deleteOauthRows(db: Db, connectionId: string): Promise<void> {
  await db.deleteFrom('oauth_flows').where('connection_id', '=', connectionId).execute()
  await db.deleteFrom('token_locks').where('connection_id', '=', connectionId).execute()
}

export async function findTokenLock(db: Db, id: string): Promise<TokenLockRow | null> {
  const [row] = await tokenLockById(db, { id })
  return row ?? null
}

const tokenLockById = prepareQuery<{ id: string }, TokenLockRow>((db, arg) =>
  db.selectFrom('token_locks').selectAll().where('connection_id', '=', arg('id')),
)

/** The number of the attempt that now holds the lock; null while another attempt holds it. */
export async function acquireTokenLock(
  db: Db,
  connectionId: string,
  { now, expiresAt }: { now: string; expiresAt: string },
): Promise<number | null> {
  const row = await db
    .insertInto('token_locks')
    .values({ connection_id: connectionId, attempt: 1, expires_at: expiresAt, error: null })
    .onConflict((conflict) =>
      conflict
        .column('connection_id')
        .doUpdateSet((eb) => ({ attempt: eb('token_locks.attempt', '+', 1), expires_at: expiresAt, error: null }))
        .where('token_locks.expires_at', '<=', now),
    )
    .returning('attempt')
    .executeTakeFirst()
  return row ? row.attempt : null
}

/** Only the attempt that holds the lock releases it. */
export async function releaseTokenLock(
  db: Db,
  connectionId: string,
  attempt: number,
  error: string | null,
): Promise<void> {
  const query = db.updateTable('token_locks').set({ expires_at: '', error }).where('connection_id', '=', connectionId)
  await query.where('attempt', '=', attempt).execute()
}

/** Stores tokens in place of the ones that they were made from; false if others were stored meanwhile. */
export async function replaceTokens(db: Db, row: VaultRow, previous: string | null): Promise<boolean> {
  if (previous === null) {
    const insert = db.insertInto('vault').values(row)
    const { numInsertedOrUpdatedRows: inserted } = await insert
      .onConflict((conflict) => conflict.columns(['project_id', 'key']).doNothing())
      .executeTakeFirst()
    return inserted === 1n
  }
  const { envelope, updated_at } = row
  const update = db.updateTable('vault').set({ envelope, updated_at }).where('project_id', '=', row.project_id)
  const result = await update.where('key', '=', row.key).where('envelope', '=', previous).executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** With `envelope`, deletes only exactly these tokens. */
export async function deleteTokenRow(db: Db, projectId: string, key: string, envelope?: string): Promise<void> {
  const query = db.deleteFrom('vault').where('project_id', '=', projectId).where('key', '=', key)
  await (envelope === undefined ? query : query.where('envelope', '=', envelope)).execute()
}
