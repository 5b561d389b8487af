import { excluded, prepareQuery } from '../../../platform/store/prepared-query.ts'
import type { QueuedTask, ReplicaRow, TaskRow } from '../../../platform/store/tables.ts'
import { CLAIMED_STATUSES } from '../../../work/tasks/status.ts'

/** Claims a released task that this transaction has locked, and reserves the number of one event. */
export const updateTaskToResumed = prepareQuery<{ id: string; replica: string }, { last_event_id: number }>((db, arg) =>
  db
    .updateTable('tasks')
    .set((row) => ({
      replica: arg('replica'),
      epoch: row('epoch', '+', 1),
      last_event_id: row('last_event_id', '+', 1),
    }))
    .where('id', '=', arg('id'))
    .returning('last_event_id'),
)

/** Claims a queued task that this transaction has locked. A `running` task has its first event in the transaction. */
export const updateTaskToClaimed = (status: 'running' | 'provisioning') =>
  prepareQuery<{ id: string; replica: string; now: string }>((db, arg) =>
    db
      .updateTable('tasks')
      .set((row) => ({
        status,
        replica: arg('replica'),
        epoch: row('epoch', '+', 1),
        ...(status === 'running' && { started_at: arg('now'), last_event_id: 1 }),
      }))
      .where('id', '=', arg('id'))
      .$castTo<never>(),
  )

export const updateHeartbeat = prepareQuery<ReplicaRow>((db, arg) =>
  db
    .insertInto('replicas')
    .values({
      id: arg('id'),
      started_at: arg('started_at'),
      seen_at: arg('seen_at'),
      max_tasks: arg('max_tasks'),
      runner_projects: arg('runner_projects'),
      runner_wedges: arg('runner_wedges'),
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: excluded('seen_at') }))
    .$castTo<never>(),
)

export const listHeartbeats = prepareQuery<object, Pick<ReplicaRow, 'id' | 'seen_at'>>((db) =>
  db.selectFrom('replicas').select(['id', 'seen_at']),
)

export const deleteReplica = prepareQuery<{ id: string; seen_at: string }>((db, arg) =>
  db.deleteFrom('replicas').where('id', '=', arg('id')).where('seen_at', '=', arg('seen_at')).$castTo<never>(),
)

/** Deletes the rows of replicas that stopped long ago. A replica without a row counts as silent. */
export const deleteReplicasBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('replicas').where('seen_at', '<', arg('before')).$castTo<never>(),
)

/** Deletes the marks of connections that were closed long ago. */
export const deleteCommitMarksBefore = prepareQuery<{ before: string }>((db, arg) =>
  db.deleteFrom('commit_marks').where('written_at', '<', arg('before')).$castTo<never>(),
)

/** The replicas that hold running tasks or effects without a known outcome. */
export const listHoldingReplicas = prepareQuery<object, { replica: string | null }>((db) =>
  db
    .selectFrom('tasks')
    .select('replica')
    .distinct()
    .where('status', 'in', CLAIMED_STATUSES)
    .union(db.selectFrom('effects').select('replica').distinct().where('outcome', '=', 'sent')),
)

/** A claimed task whose agent has done nothing: its log has at most `task.created`, and it has cost nothing. */
export const findUnbegunTask = prepareQuery<{ id: string; epoch: number }, QueuedTask>((db, arg) =>
  db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .selectAll('tasks')
    .select('projects.tier')
    .where('tasks.id', '=', arg('id'))
    .where('tasks.epoch', '=', arg('epoch'))
    .where('tasks.status', 'in', ['provisioning', 'running'])
    .where('tasks.last_event_id', '<=', 1)
    .where('tasks.cost_micros', '=', 0),
)

export const listActiveTasksOfReplica = prepareQuery<{ replica: string }, Pick<TaskRow, 'id' | 'project_id' | 'epoch'>>(
  (db, arg) =>
    db
      .selectFrom('tasks')
      .select(['id', 'project_id', 'epoch'])
      .where('replica', '=', arg('replica'))
      .where('status', 'in', CLAIMED_STATUSES),
)
