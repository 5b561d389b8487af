import { prepareQuery } from '../store/prepared-query.ts'
import { CLAIMED_STATUSES } from '../tasks/status.ts'

/**
 * What is open right now, over all projects. Each of these walks open rows only, in an index, and stops after so many:
 * nobody's queue may make a look at it slow.
 */
const MAX_COUNTED_ROWS = 100_000

/** Ids begin with the time, so the least is the oldest. */
export const countQueuedTasks = prepareQuery<object, { n: number; oldest: string | null }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('tasks')
        .select('id')
        .where('status', '=', 'queued')
        .orderBy('project_id')
        .orderBy('id')
        .limit(MAX_COUNTED_ROWS)
        .as('waiting'),
    )
    .select((eb) => [eb.fn.countAll<number>().as('n'), eb.fn.min('id').as('oldest')]),
)

export const countActiveTasks = prepareQuery<object, { status: string; n: number }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('tasks')
        .select('status')
        .where('status', 'in', CLAIMED_STATUSES)
        .limit(MAX_COUNTED_ROWS)
        .as('active'),
    )
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .groupBy('status'),
)

export const countPendingApprovals = prepareQuery<object, { n: number }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('approvals')
        .select('expires_at')
        .where('status', '=', 'pending')
        .limit(MAX_COUNTED_ROWS)
        .as('waiting'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
)

export const countPendingDeliveries = prepareQuery<object, { n: number }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('webhook_deliveries')
        .select('webhook_id')
        .where('status', '=', 'pending')
        .limit(MAX_COUNTED_ROWS)
        .as('waiting'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
)
