import { prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { DecisionLinkRow } from '../../../platform/store/tables.ts'

export async function insertDecisionLinks(db: Db, rows: readonly DecisionLinkRow[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('decision_links').values(rows).execute()
}

export const findDecisionLink = prepareQuery<{ hash: string }, DecisionLinkRow>((db, arg) =>
  db.selectFrom('decision_links').selectAll().where('hash', '=', arg('hash')),
)

/** Uses a link, once: of several calls at the same time, one gets a row. */
export const updateDecisionLinkUsed = prepareQuery<{ hash: string; now: string }, DecisionLinkRow>((db, arg) =>
  db
    .updateTable('decision_links')
    .set({ used_at: arg('now') })
    .where('hash', '=', arg('hash'))
    .where('used_at', 'is', null)
    .where('expires_at', '>', arg('now'))
    .returningAll(),
)

/** Returns how many were deleted. */
export async function deleteDecisionLinksBefore(db: Db, before: string, limit: number): Promise<number> {
  const old = db.selectFrom('decision_links').select('hash').where('expires_at', '<', before).limit(limit)
  return (await db.deleteFrom('decision_links').where('hash', 'in', old).returning('hash').execute()).length
}
