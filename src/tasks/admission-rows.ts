import { sql } from 'kysely'
import { excluded, prepared } from '../store/prepared.ts'

export const dropOldKey = prepared<{ project_id: string; key: string; before: string }>((db, arg) =>
  db
    .deleteFrom('idempotency_keys')
    .where('project_id', '=', arg('project_id'))
    .where('key', '=', arg('key'))
    .where('created_at', '<', arg('before'))
    .$castTo<never>(),
)

export const holdKey = prepared<
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

export const findKey = prepared<{ project_id: string; key: string }, { body_hash: string; task_id: string }>(
  (db, arg) =>
    db
      .selectFrom('idempotency_keys')
      .select(['body_hash', 'task_id'])
      .where('project_id', '=', arg('project_id'))
      .where('key', '=', arg('key')),
)

/** The next turn, and when its slot of the ring was last taken; null: never. */
export const takeTurn = prepared<{ project_id: string; limit: number }, { n: number; former: number | null }>(
  (db, arg) =>
    db
      .updateTable('rate_heads')
      .set((eb) => ({ n: eb('n', '+', 1) }))
      .where('project_id', '=', arg('project_id'))
      .returning((eb) => [
        'n',
        eb
          .selectFrom('rate_ring')
          .select('at')
          .whereRef('rate_ring.project_id', '=', 'rate_heads.project_id')
          .where('slot', '=', sql<number>`rate_heads.n % ${arg('limit')}`)
          .as('former'),
      ]),
)

export const startRing = prepared<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_heads')
    .values({ project_id: arg('project_id'), n: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

export const putRingTime = prepared<{ project_id: string; slot: number; at: number }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: arg('slot'), at: arg('at') })
    .onConflict((conflict) => conflict.columns(['project_id', 'slot']).doUpdateSet({ at: excluded('at') }))
    .$castTo<never>(),
)

/** Keys are kept for a day. */
export const dropKeysBefore = prepared<{ before: string }>((db, arg) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', arg('before')).$castTo<never>(),
)
