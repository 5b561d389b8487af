import { type ExpressionBuilder, sql } from 'kysely'
import { WRITABLE_STATUSES } from '../../work/events/rows.ts'
import { hasSubscribedWebhook } from '../../work/events/webhook-event-rows.ts'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { ApprovalRow, Tables, TaskRow } from '../../platform/store/tables.ts'
import type { TerminalStatus } from '../../work/tasks/status.ts'
import { statusesBefore } from './states.ts'

/**
 * The statements that change the status of a task. Each is a compare-and-set on the status, and on the epoch where a
 * run is the caller. It also reserves the numbers of the events that report the change, so status and log agree.
 */

/** provisioning → running. */
export const updateTaskRunning = prepareQuery<
  { id: string; epoch: number; started_at: string },
  { last_event_id: number }
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({
      status: 'running',
      started_at: arg('started_at'),
      last_event_id: eb('last_event_id', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', '=', 'provisioning')
    .returning('last_event_id'),
)

/** running → awaiting_approval. A task that already waits stays so: an agent may ask for several approvals at once. */
export const updateTaskWaiting = prepareQuery<{ id: string; epoch: number }, { last_event_id: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ status: 'awaiting_approval', last_event_id: eb('last_event_id', '+', 1) }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning('last_event_id'),
)

/** awaiting_approval → running, unless another approval of the task is still pending. */
export const updateTaskResumed = prepareQuery<
  { id: string; epoch: number; count: number },
  { status: 'running' | 'awaiting_approval'; last_event_id: number }
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({
      status: eb
        .case()
        .when(eb.exists(pendingApprovalIds(eb)))
        .then('awaiting_approval')
        .else('running')
        .end(),
      last_event_id: eb('last_event_id', '+', arg('count')),
    }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning(['status', 'last_event_id'])
    .$castTo<{ status: 'running' | 'awaiting_approval'; last_event_id: number }>(),
)

/**
 * Takes a task from its replica, so that another replica can continue it, and reserves the number of one event. Raises the
 * epoch, so that the run that is left cannot write or act any more.
 */
const updateReleasedFrom = (statuses: readonly ('running' | 'awaiting_approval')[]) =>
  prepareQuery<{ id: string; epoch: number }, { status: 'running' | 'awaiting_approval'; last_event_id: number }>(
    (db, arg) =>
      db
        .updateTable('tasks')
        .set((eb) => ({ replica: null, epoch: eb('epoch', '+', 1), last_event_id: eb('last_event_id', '+', 1) }))
        .where('id', '=', arg('id'))
        .where('epoch', '=', arg('epoch'))
        .where('status', 'in', statuses)
        .returning(['status', 'last_event_id'])
        .$castTo<{ status: 'running' | 'awaiting_approval'; last_event_id: number }>(),
  )

export const updateTaskReleased = updateReleasedFrom(WRITABLE_STATUSES)
export const updateWaitingTaskReleased = updateReleasedFrom(['awaiting_approval'])

const pendingApprovalIds = (eb: ExpressionBuilder<Tables, 'tasks'>) =>
  eb
    .selectFrom('approvals')
    .select('approvals.id')
    .whereRef('task_id', '=', 'tasks.id')
    .where('approvals.status', '=', 'pending')

export type EndedTask = Pick<TaskRow, (typeof ENDED_TASK_COLUMNS)[number]> & {
  has_subscribed_webhook: number
  /** The size of the events that are not counted yet, without those that end the log. */
  event_bytes: number
}

const ENDED_TASK_COLUMNS = [
  'project_id',
  'thread_id',
  'wedge',
  'task_type',
  'client_id',
  'cost_micros',
  'last_event_id',
  'created_at',
  'started_at',
] as const

/**
 * Ends a task from every status that can come before, and for a run only in its own epoch. A task that never ran gets
 * one more event number, for the `task.created` event that opens its log.
 */
export const updateTaskEnded = (status: TerminalStatus) =>
  prepareQuery<
    {
      id: string
      epoch: number | null
      output: string | null
      error: string | null
      count: number
      finished_at: string
    },
    EndedTask
  >((db, arg) =>
    db
      .updateTable('tasks')
      .set({
        status,
        output: arg('output'),
        error: arg('error'),
        finished_at: arg('finished_at'),
        last_event_id: sql`last_event_id + ${arg('count')} + case when started_at is null then 1 else 0 end`,
      })
      .where('id', '=', arg('id'))
      .where('status', 'in', statusesBefore(status))
      .where('epoch', '=', (row) => row.fn.coalesce(row.val(arg('epoch')), 'epoch'))
      .returning(ENDED_TASK_COLUMNS)
      .returning(hasSubscribedWebhook('task.finished', 'tasks.project_id').as('has_subscribed_webhook'))
      .returning((eb) =>
        eb
          .selectFrom('events')
          .select(sql<number>`coalesce(sum(octet_length(data)), 0)`.as('bytes'))
          .where('events.task_id', '=', arg('id'))
          .whereRef('events.seq', '>', 'tasks.counted_events')
          .as('event_bytes'),
      )
      .$castTo<EndedTask>(),
  )

/** Closes the pending approvals of a task that ends. */
export const updatePendingApprovalsClosed = prepareQuery<
  { task_id: string; status: string; reason: string | null; decided_at: string; by_kind: string; by_id: string },
  Pick<ApprovalRow, 'id' | 'project_id' | 'action' | 'path' | 'created_at'>
>((db, arg) =>
  db
    .updateTable('approvals')
    .set({
      status: arg('status'),
      reason: arg('reason'),
      decided_at: arg('decided_at'),
      decided_by_kind: arg('by_kind'),
      decided_by_id: arg('by_id'),
      held_until: null,
      held: null,
      held_by_id: null,
    })
    .where('task_id', '=', arg('task_id'))
    .where('status', '=', 'pending')
    .returning(['id', 'project_id', 'action', 'path', 'created_at']),
)

export type DueApproval = Pick<ApprovalRow, (typeof DUE_APPROVAL_COLUMNS)[number]>

const DUE_APPROVAL_COLUMNS = ['id', 'task_id', 'path', 'client_id'] as const

/** Pending approvals whose `expires_at` has passed, the longest overdue first. One that is held does not expire. */
export const listDueApprovals = prepareQuery<{ now: string }, DueApproval>((db, arg) =>
  db
    .selectFrom('approvals')
    .select(DUE_APPROVAL_COLUMNS)
    .where('status', '=', 'pending')
    .where('expires_at', '<=', arg('now'))
    .where('held_until', 'is', null)
    .orderBy('expires_at')
    .limit(200),
)

/** The columns that a decision changes. Not limited to a scope: never pass an id that came from a caller. */
export const findApprovalDecision = prepareQuery<
  { id: string },
  Pick<ApprovalRow, 'status' | 'edited' | 'payload_sha256' | 'decided_by_kind' | 'reason' | 'revise' | 'held_until'>
>((db, arg) =>
  db
    .selectFrom('approvals')
    .select(['status', 'edited', 'payload_sha256', 'decided_by_kind', 'reason', 'revise', 'held_until'])
    .where('id', '=', arg('id')),
)
