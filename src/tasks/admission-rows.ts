import { isPostgres } from '../store/dialect.ts'
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

/** Behind the last slot of every ring stands how many turns were taken: beside the newest, in the same page. */
const COUNT = Number.MAX_SAFE_INTEGER

/** The turns taken so far; the row stays locked until the commit. */
export const turnsTaken = prepared<{ project_id: string }, { n: number }>((db, arg) =>
  db
    .selectFrom('rate_ring')
    .select('at as n')
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNT)
    .$if(isPostgres(db), (query) => query.forUpdate()),
)

export const startRing = prepared<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

/** Nothing, if the slot was taken since. */
export const takeSlot = prepared<{ project_id: string; slot: number; at: number; since: number }, { slot: number }>(
  (db, arg) =>
    db
      .insertInto('rate_ring')
      .values({ project_id: arg('project_id'), slot: arg('slot'), at: arg('at') })
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'slot'])
          .doUpdateSet({ at: excluded('at') })
          .where('rate_ring.at', '<=', arg('since')),
      )
      .returning('slot'),
)

export const countTurn = prepared<{ project_id: string }>((db, arg) =>
  db
    .updateTable('rate_ring')
    .set((eb) => ({ at: eb('at', '+', 1) }))
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNT)
    .$castTo<never>(),
)

export const slotTaken = prepared<{ project_id: string; slot: number }, { at: number }>((db, arg) =>
  db.selectFrom('rate_ring').select('at').where('project_id', '=', arg('project_id')).where('slot', '=', arg('slot')),
)

/** Keys are kept for a day. */
export const dropKeysBefore = prepared<{ before: string }>((db, arg) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', arg('before')).$castTo<never>(),
)
