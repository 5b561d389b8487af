import { isPostgres } from '../store/dialect.ts'
import { excluded, prepareQuery } from '../store/prepared-query.ts'
import type { Db } from '../store/store.ts'

/** The row of `rate_ring` that holds the count instead of a time. It sorts after all slots, next to the newest ones. */
const COUNTER_SLOT = Number.MAX_SAFE_INTEGER

/** Locks the counter until the commit and returns how many creations were ever allowed. */
export async function lockRateCounter(db: Db, project_id: string): Promise<number> {
  const [row] = await selectRateCounter(db, { project_id })
  if (row) return row.at
  await insertRateCounter(db, { project_id })
  const [inserted] = await selectRateCounter(db, { project_id })
  if (!inserted) throw new Error(`no rate counter for ${project_id}`)
  return inserted.at
}

const selectRateCounter = prepareQuery<{ project_id: string }, { at: number }>((db, arg) => {
  const rows = db.selectFrom('rate_ring').select('at').where('project_id', '=', arg('project_id'))
  const counter = rows.where('slot', '=', COUNTER_SLOT)
  return isPostgres(db) ? counter.forUpdate() : counter
})

const insertRateCounter = prepareQuery<{ project_id: string }>((db, arg) =>
  db
    .insertInto('rate_ring')
    .values({ project_id: arg('project_id'), slot: COUNTER_SLOT, at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
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
