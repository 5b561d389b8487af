import { type Expression, sql, type SqlBool } from 'kysely'
import { prepareQuery } from '../../platform/store/prepared-query.ts'
import type { Db } from '../../platform/store/store.ts'
import type { TaskRow } from '../../platform/store/tables.ts'

export type OldTask = Pick<TaskRow, 'id' | 'project_id' | 'finished_at' | 'log_pruned_at'>

/** The next tasks in the order of their creation, whatever their status: the primary key bounds what one call reads. */
export const listTasksInOrder = prepareQuery<{ after: string; before_id: string; limit: number }, OldTask>((db, arg) =>
  db
    .selectFrom('tasks')
    .select(['id', 'project_id', 'finished_at', 'log_pruned_at'])
    .where('id', '>', arg('after'))
    .where('id', '<', arg('before_id'))
    .orderBy('id')
    .limit(arg('limit')),
)

/**
 * Whether nothing needs the task any more: the reports have counted all its approvals, as they counted the task when it
 * ended, no action is in progress, and its case is closed. Whatever else has to keep a task must be added here.
 */
const isDeletable: Expression<SqlBool> = sql<SqlBool>`(
  not exists (select 1 from approvals where approvals.task_id = tasks.id and approvals.status = 'pending')
  and not exists (select 1 from effects where effects.task_id = tasks.id and effects.outcome = 'sent')
  and not exists (select 1 from cases where cases.id = tasks.case_id and cases.closed_at is null))`

/** Of the tasks, those that can be deleted. */
export async function listDeletableTasks(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('id', 'in', ids)
    .where(isDeletable)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Deletes the rows of tasks and of everything that belongs to them, and returns the bytes of their events. Knowledge,
 * messages and schedules keep the id of the task that they came from.
 */
export async function deleteTasks(db: Db, ids: readonly string[]): Promise<{ eventBytes: number }> {
  const approvals = db.selectFrom('approvals').select('id').where('task_id', 'in', ids)
  for (const table of ['approval_votes', 'approval_comments', 'notification_messages'] as const)
    await db.deleteFrom(table).where('approval_id', 'in', approvals).execute()
  const artifacts = db.selectFrom('artifacts').select('id').where('task_id', 'in', ids)
  await db.deleteFrom('artifact_files').where('artifact_id', 'in', artifacts).execute()
  const events = await db
    .deleteFrom('events')
    .where('task_id', 'in', ids)
    .returning(sql<number>`octet_length(data)`.as('bytes'))
    .execute()
  for (const table of ['transcripts', 'run_states', 'artifacts', 'task_files', 'effects', 'approvals'] as const)
    await db.deleteFrom(table).where('task_id', 'in', ids).execute()
  await db.deleteFrom('tasks').where('id', 'in', ids).execute()
  return { eventBytes: events.reduce((sum, { bytes }) => sum + bytes, 0) }
}
