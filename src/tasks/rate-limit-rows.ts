import { sql } from 'kysely'
import { isPostgres } from '../store/dialect.ts'
import { excluded, prepareLock, prepareQuery } from '../store/prepared-query.ts'
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

/** Behind the last slot of every ring stands how many turns were taken: beside the newest, in the same page. */
const COUNTER_SLOT = Number.MAX_SAFE_INTEGER

export const insertRateCounter = prepareQuery<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNTER_SLOT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

/** Nobody else takes a turn before the commit. */
const lockRateCounter = prepareLock<{ project_id: string }>((db, arg) =>
  db
    .selectFrom('rate_ring')
    .select('at')
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNTER_SLOT)
    .forUpdate(),
)

/** How many turns were taken, and when the newest of the slots was that the next ones would take; 0: never. */
export interface RateState {
  turns: number
  newest: number
}

type RateQuery = { project_id: string; limit: number; next: number }

export async function lockRateState(db: Db, next: RateQuery): Promise<RateState | undefined> {
  // A statement of its own: one that waits for a lock sees all other rows as they were before.
  if (isPostgres(db)) await lockRateCounter(db, next)
  const [row] = await findRateState(db, next)
  return row && { turns: row.turns, newest: Math.max(row.newest ?? 0, row.wrapped ?? 0) }
}

const findRateState = prepareQuery<RateQuery, { turns: number; newest: number | null; wrapped: number | null }>(
  (db, arg) => {
    const first = sql<number>`turns.at % cast(${arg('limit')} as bigint)`
    const behind = sql<number>`${first} + cast(${arg('next')} as bigint)`
    return db
      .selectFrom('rate_ring as turns')
      .select((eb) => {
        const slots = eb
          .selectFrom('rate_ring as ring')
          .select((of) => of.fn.max('ring.at').as('at'))
          .whereRef('ring.project_id', '=', 'turns.project_id')
        return [
          'turns.at as turns',
          slots.where('ring.slot', '>=', first).where('ring.slot', '<', behind).as('newest'),
          slots.where('ring.slot', '<', sql<number>`${behind} - cast(${arg('limit')} as bigint)`).as('wrapped'),
        ]
      })
      .where('turns.project_id', '=', arg('project_id'))
      .where('turns.slot', '=', COUNTER_SLOT)
  },
)

export const updateRateCounter = prepareQuery<{ project_id: string; turns: number }>((db, arg) =>
  db
    .updateTable('rate_ring')
    .set({ at: arg('turns') })
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
