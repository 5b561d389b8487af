import { isPostgres } from '../../platform/store/dialect.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'

/** Locks the row of a subject until the commit. */
export const lockMinuteCount = prepareQuery<{ subject: string }, { seconds: string }>((db, arg) =>
  db
    .selectFrom('minute_counts')
    .select('seconds')
    .where('subject', '=', arg('subject'))
    .$if(isPostgres(db), (query) => query.forUpdate()),
)

/** Keeps an existing row. */
export const insertMinuteCount = prepareQuery<{ subject: string }>((db, arg) =>
  db
    .insertInto('minute_counts')
    .values({ subject: arg('subject'), seconds: '[]' })
    .onConflict((conflict) => conflict.doNothing())
    .$castTo<never>(),
)

export const updateMinuteCount = prepareQuery<{ subject: string; seconds: string }>((db, arg) =>
  db
    .updateTable('minute_counts')
    .set({ seconds: arg('seconds') })
    .where('subject', '=', arg('subject'))
    .$castTo<never>(),
)
