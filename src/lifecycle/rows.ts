import { type ExpressionBuilder, sql } from 'kysely'
import { hasSubscribedWebhook } from '../events/webhook-event-rows.ts'
import { WRITABLE_STATUSES } from '../events/rows.ts'
import { isPostgres } from '../store/dialect.ts'
import { prepareQuery } from '../store/prepared-query.ts'
import type { Tables, TaskRow } from '../store/tables.ts'
import { statusesBefore, type TerminalStatus } from '../tasks/status.ts'

/**
 * The statements that change a task's state. Each is a compare-and-set on the status (and on the epoch, where a run
 * asks) that takes the numbers of the events which tell of it, so state and log never disagree.
 */

export type LockedTask = Pick<TaskRow, (typeof LOCKED_TASK_COLUMNS)[number]>

const LOCKED_TASK_COLUMNS = ['id', 'project_id', 'status', 'epoch', 'log_pruned_at'] as const

/**
 * The task, held until the commit. Whoever decides by the approvals of a task holds it first: then no decision is
 * made on what another is just changing, and all take their locks in one order, task before approval.
 */
export const lockTask = prepareQuery<{ id: string }, LockedTask>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(LOCKED_TASK_COLUMNS)
    .where('id', '=', arg('id'))
    .$if(isPostgres(db), (query) => query.forNoKeyUpdate()),
)

export const updateTaskCost = prepareQuery<
  { id: string; epoch: number; micros: number },
  { last_event_id: number; cost_micros: number }
>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({
      cost_micros: eb('cost_micros', '+', arg('micros')),
      last_event_id: eb('last_event_id', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning(['last_event_id', 'cost_micros']),
)

/** Provisioning is over: the run begins. */
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

/** A run waits for a person. */
export const updateTaskWaiting = prepareQuery<{ id: string; epoch: number }, { last_event_id: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ status: 'awaiting_approval', last_event_id: eb('last_event_id', '+', 1) }))
    .where('id', '=', arg('id'))
    .where('epoch', '=', arg('epoch'))
    .where('status', 'in', WRITABLE_STATUSES)
    .returning('last_event_id'),
)

/** A run goes on after the answer, unless another of its questions is still open. */
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

const pendingApprovalIds = (eb: ExpressionBuilder<Tables, 'tasks'>) =>
  eb
    .selectFrom('approvals')
    .select('approvals.id')
    .whereRef('task_id', '=', 'tasks.id')
    .where('approvals.status', '=', 'pending')

/** `heard`: a webhook wants to know. */
export type EndedTask = Pick<TaskRow, (typeof ENDED_TASK_COLUMNS)[number]> & { heard: number }

const ENDED_TASK_COLUMNS = ['project_id', 'wedge', 'task_type', 'last_event_id', 'created_at', 'started_at'] as const

/**
 * The end, from every status that may come before it, and for a run only in its own epoch. The log of
 * a task that never ran gets one number more, for the event that opens it.
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
      .returning(hasSubscribedWebhook('task.finished', 'tasks.project_id').as('heard')),
  )
