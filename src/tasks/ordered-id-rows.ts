import { sql } from 'kysely'
import type { Db } from '../store/store.ts'
import { TASK_STATUSES, type TaskStatus } from './status.ts'

/**
 * The ids of a project's tasks in order, as a union over all statuses. Each part reads a range of the index on status and
 * project, which the queue needs anyway. An index on the project alone would make every creation write one more index.
 */
export function taskIdsInOrder(
  db: Db,
  projectId: string,
  order: 'asc' | 'desc',
  limit: number,
  narrow: (ids: TaskIdsOfStatus) => TaskIdsOfStatus,
) {
  const perStatus = TASK_STATUSES.map((status) =>
    db
      .selectFrom(
        narrow(taskIdsOfStatus(db, projectId, status))
          .orderBy('id', order)
          .limit(limit)
          .as('ids'),
      )
      .select('id'),
  )
  const all = perStatus.reduce((union, next) => union.unionAll(next))
  return db.selectFrom(all.as('ids')).select('id').orderBy('id', order).limit(limit)
}

type TaskIdsOfStatus = ReturnType<typeof taskIdsOfStatus>

/**
 * The status is a literal, not a parameter. With a parameter PostgreSQL assumes that all statuses are equally common, and
 * scans the whole primary key for a status that no task has.
 */
const taskIdsOfStatus = (db: Db, projectId: string, status: TaskStatus) =>
  db
    .selectFrom('tasks')
    .select('id')
    .where('status', '=', sql.lit<TaskStatus>(status))
    .where('project_id', '=', projectId)
