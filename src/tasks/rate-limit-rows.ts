import { isPostgres } from '../store/dialect.ts'
import { excluded, prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'

export const deleteExpiredIdempotencyKey = prepareQuery<{ project_id: string; key: string; before: string }>(
  (db, arg) =>
    db
      .deleteFrom('idempotency_keys')
      .where('project_id', '=', arg('project_id'))
      .where('key', '=', arg('key'))
      .where('created_at', '<', arg('before'))
      .$castTo<never>(),
)

export const insertIdempotencyKey = prepareQuery<
  { project_id: string; key: string; body_hash: string; task_id: string; created_at: string },
  { task_id: string }
>((db, arg) =>
  db
    .insertInto('idempotency_keys')
    .values({
      project_id: arg('project_id'),
      key: arg('key'),
      body_hash: arg('body_hash'),
      task_id: arg('task_id'),
      created_at: arg('created_at'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('task_id'),
)

export const findIdempotencyKey = prepareQuery<
  { project_id: string; key: string; since: string },
  { body_hash: string; task_id: string }
>((db, arg) =>
  db
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'task_id'])
    .where('project_id', '=', arg('project_id'))
    .where('key', '=', arg('key'))
    .where('created_at', '>=', arg('since')),
)

/** The row in this slot counts all creations of the project; creation n is stored in slot n modulo the limit. */
const COUNTER_SLOT = Number.MAX_SAFE_INTEGER

const insertRateCounter = prepareQuery<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNTER_SLOT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

/** Locks the counter until the commit, so that the limit is exact across replicas. */
export async function lockRateCounter(db: Db, projectId: string): Promise<number> {
  const [row] = await selectRateCounter(db, { project_id: projectId })
  if (row) return row.at
  await insertRateCounter(db, { project_id: projectId })
  const [inserted] = await selectRateCounter(db, { project_id: projectId })
  if (!inserted) throw new Error(`the rate counter of ${projectId} was not inserted`)
  return inserted.at
}

const selectRateCounter = prepareQuery<{ project_id: string }, { at: number }>((db, arg) => {
  const query = db.selectFrom('rate_ring').select('at').where('project_id', '=', arg('project_id'))
  const counter = query.where('slot', '=', COUNTER_SLOT)
  return isPostgres(db) ? counter.forUpdate() : counter
})

export const updateRateCounter = prepareQuery<{ project_id: string; count: number }>((db, arg) =>
  db
    .updateTable('rate_ring')
    .set({ at: arg('count') })
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNTER_SLOT)
    .$castTo<never>(),
)

export const findRateSlot = prepareQuery<{ project_id: string; slot: number }, { at: number }>((db, arg) =>
  db.selectFrom('rate_ring').select('at').where('project_id', '=', arg('project_id')).where('slot', '=', arg('slot')),
)

export const upsertRateSlot = prepareQuery<{ project_id: string; slot: number; at: number }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: arg('slot'), at: arg('at') })
    .onConflict((conflict) => conflict.columns(['project_id', 'slot']).doUpdateSet({ at: excluded('at') }))
    .$castTo<never>(),
)

/** Keys are kept for a day. */
export const deleteIdempotencyKeysBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', arg('before')).$castTo<never>(),
)
