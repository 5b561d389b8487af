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

export const startRing = prepared<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

/** How many turns were taken; nobody else takes one before the commit. */
export const lockTurns = prepared<{ project_id: string }, { turns: number }>((db, arg) =>
  db
    .selectFrom('rate_ring')
    .select('at as turns')
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNT)
    .$if(isPostgres(db), (query) => query.forUpdate()),
)

export const setTurns = prepared<{ project_id: string; turns: number }>((db, arg) =>
  db
    .updateTable('rate_ring')
    .set({ at: arg('turns') })
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNT)
    .$castTo<never>(),
)

/** When the newest of these slots was taken; null: none ever was. `wrapped`: and of those before it. */
export const newestOf = prepared<
  { project_id: string; from: number; to: number; wrapped: number },
  { at: number | null }
>((db, arg) => {
  const slots = db.selectFrom('rate_ring').select('at').where('project_id', '=', arg('project_id'))
  const stretch = slots.where('slot', '>=', arg('from')).where('slot', '<', arg('to'))
  return db
    .selectFrom(stretch.unionAll(slots.where('slot', '<', arg('wrapped'))).as('slots'))
    .select((eb) => eb.fn.max('at').as('at'))
})

export const takeSlot = prepared<{ project_id: string; slot: number; at: number }>((db, arg) =>
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
