import { sql } from 'kysely'
import { isPostgres } from '../../platform/store/dialect.ts'
import { excluded, prepareLock, prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'

/** The row of `rate_ring` that holds the count instead of a time. It sorts after all slots, next to the newest ones. */
const COUNTER_SLOT = Number.MAX_SAFE_INTEGER

export const insertRateCounter = prepareQuery<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNTER_SLOT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

const lockRateCounter = prepareLock<{ project_id: string }>((db, arg) =>
  db
    .selectFrom('rate_ring')
    .select('at')
    .where('project_id', '=', arg('project_id'))
    .where('slot', '=', COUNTER_SLOT)
    .forUpdate(),
)

/** How many creations were ever allowed, and the newest time in the slots that come next; 0: none was used yet. */
export interface RateState {
  count: number
  newestAt: number
}

/** `slots`: how many of the slots that come next to look at. */
type RateQuery = { project_id: string; limit: number; slots: number }

/** Locks the counter until the commit and reads the state. */
export async function lockRateState(db: Db, query: RateQuery): Promise<RateState | undefined> {
  // The lock is a statement of its own: a statement that waits for a lock sees the other rows as they were before.
  if (isPostgres(db)) await lockRateCounter(db, query)
  const [row] = await findRateState(db, query)
  return row && { count: row.count, newestAt: Math.max(row.newest ?? 0, row.wrapped ?? 0) }
}

/** `wrapped` is the newest of those slots that lie at the start of the ring, because it wraps around. */
const findRateState = prepareQuery<RateQuery, { count: number; newest: number | null; wrapped: number | null }>(
  (db, arg) => {
    const first = sql<number>`counter.at % cast(${arg('limit')} as bigint)`
    const end = sql<number>`${first} + cast(${arg('slots')} as bigint)`
    return db
      .selectFrom('rate_ring as counter')
      .select((eb) => {
        const slots = eb
          .selectFrom('rate_ring as ring')
          .select((of) => of.fn.max('ring.at').as('at'))
          .whereRef('ring.project_id', '=', 'counter.project_id')
        return [
          'counter.at as count',
          slots.where('ring.slot', '>=', first).where('ring.slot', '<', end).as('newest'),
          slots.where('ring.slot', '<', sql<number>`${end} - cast(${arg('limit')} as bigint)`).as('wrapped'),
        ]
      })
      .where('counter.project_id', '=', arg('project_id'))
      .where('counter.slot', '=', COUNTER_SLOT)
  },
)

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
