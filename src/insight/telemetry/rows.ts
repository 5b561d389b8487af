import { sql } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import { CLAIMED_STATUSES } from '../../work/tasks/status.ts'

/** The counts of all projects read open rows only, in an index, and stop here so that a long queue stays cheap to count. */
const MAX_COUNTED_ROWS = 100_000

/** Ids are time-ordered, so the smallest is the oldest. */
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

/** `parked` are those that no replica holds. */
export const countActiveTasks = prepareQuery<object, { status: string; n: number; parked: number }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('tasks')
        .select(['status', 'replica'])
        .where('status', 'in', CLAIMED_STATUSES)
        .limit(MAX_COUNTED_ROWS)
        .as('active'),
    )
    .select((eb) => ['status', eb.fn.countAll<number>().as('n'), sql<number>`count(*) - count(replica)`.as('parked')])
    .groupBy('status'),
)

/** One row for each project, so the sum is cheap. */
export const sumStoredBytes = prepareQuery<object, { bytes: number }>((db) =>
  db.selectFrom('storage_usage').select(sql<number>`cast(coalesce(sum(bytes), 0) as bigint)`.as('bytes')),
)

/** Of the oldest ones, so `oldest` is exact. */
export const countPendingApprovals = prepareQuery<object, { n: number; oldest: string | null }>((db) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('approvals')
        .select('id')
        .where('status', '=', 'pending')
        .orderBy('id')
        .limit(MAX_COUNTED_ROWS)
        .as('waiting'),
    )
    .select((eb) => [eb.fn.countAll<number>().as('n'), eb.fn.min('id').as('oldest')]),
)

export const findApprovalTime = prepareQuery<{ id: string }, { created_at: string }>((db, arg) =>
  db.selectFrom('approvals').select('created_at').where('id', '=', arg('id')),
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
