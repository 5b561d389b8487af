import { sql } from 'kysely'
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

/** Takes the slot of the next turn; nothing, if it was taken since. The count stays locked until the commit. */
export const takeTurn = prepared<{ project_id: string; limit: number; now: number; since: number }, { slot: number }>(
  (db, arg) =>
    db
      .with('turns', (of) =>
        of
          .selectFrom('rate_ring')
          .select('at')
          .where('project_id', '=', arg('project_id'))
          .where('slot', '=', COUNT)
          .$if(isPostgres(db), (query) => query.forUpdate()),
      )
      .insertInto('rate_ring')
      .columns(['project_id', 'slot', 'at'])
      .expression((eb) =>
        eb
          .selectFrom('turns')
          .select([
            sql<string>`cast(${arg('project_id')} as text)`.as('project_id'),
            sql<number>`at % cast(${arg('limit')} as bigint)`.as('slot'),
            sql<number>`cast(${arg('now')} as bigint)`.as('at'),
          ])
          // Without a condition SQLite would take `on conflict` for that of a join.
          .where('at', '>=', 0),
      )
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

/** When the slot of the next turn was taken; null: never. */
export const nextSlot = prepared<{ project_id: string; limit: number }, { taken: number | null }>((db, arg) =>
  db
    .selectFrom('rate_ring as turns')
    .select((eb) =>
      eb
        .selectFrom('rate_ring as ring')
        .select('ring.at')
        .whereRef('ring.project_id', '=', 'turns.project_id')
        .where('ring.slot', '=', sql<number>`turns.at % cast(${arg('limit')} as bigint)`)
        .as('taken'),
    )
    .where('turns.project_id', '=', arg('project_id'))
    .where('turns.slot', '=', COUNT),
)

/** Keys are kept for a day. */
export const dropKeysBefore = prepared<{ before: string }>((db, arg) =>
  db.deleteFrom('idempotency_keys').where('created_at', '<', arg('before')).$castTo<never>(),
)
